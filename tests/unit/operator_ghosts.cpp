// SPDX-License-Identifier: BSD-3-Clause
// Ghosts in vectors of devices get the values of their owners, and owners add those of ghosts, as on the host, bit by
// bit; nothing else of the vectors passes through the host.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include <rafter/comm/ghost_exchange.hpp>
#include <rafter/operator/run/ghosts.hpp>
#include <rafter/space/function_space.hpp>

#include <tests/support/opencl.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/rank_meshes.hpp>

namespace rafter::test {
namespace {

std::vector<std::string> device_names() {
  std::vector<std::string> result{"host", "checked"};
  if (has_opencl()) result.emplace_back("opencl");
  return result;
}

/// A part of a mesh with two fields, and vectors whose entries differ by process.
template <class T> class Part {
public:
  explicit Part(const mesh::Mesh& mesh)
      : problem_(mesh, {{.degree = 2, .components = 2, .name = "w"}, {.degree = 1, .name = "p"}}),
        system_(problem_.system()), rank_(mesh.communicator()->rank()) {}

  const op::System& system() const { return system_; }
  /// Values whose sums depend on their order.
  base::AlignedVector<T> values() const {
    base::AlignedVector<T> result(static_cast<std::size_t>(system_.size()));
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = static_cast<T>(std::ldexp(std::sin(static_cast<double>(i + 1) * (rank_ + 1)), 7 * rank_));
    return result;
  }
  std::size_t num_ghosts() const {
    std::size_t result = 0;
    for (const auto& space : system_.spaces) result += static_cast<std::size_t>(space->index_map().num_ghosts());
    return result;
  }
  std::size_t num_sent() const {
    std::size_t result = 0;
    for (const auto& space : system_.spaces) result += space->exchange()->owned().size();
    return result;
  }
  /// Calls the function for the exchange of each field and its values in a vector.
  void for_each_field(std::span<T> vector,
                      const std::function<void(const comm::GhostExchange&, std::span<T>)>& function) const {
    for (std::size_t f = 0; f < system_.spaces.size(); ++f)
      function(*system_.spaces[f]->exchange(),
               vector.subspan(static_cast<std::size_t>(system_.offset(f)),
                              static_cast<std::size_t>(system_.spaces[f]->num_local())));
  }

private:
  Problem problem_;
  op::System system_;
  int rank_;
};

template <class T> class GhostsOfDevices : public ::testing::Test {
protected:
  /// Calls the function for a part of a mesh and a device, on virtual processes.
  static void for_each_part(const std::function<void(const Part<T>&, const std::shared_ptr<device::Device>&)>& body) {
    const auto mesh = rank_box("mixed");
    const auto ranks = cell_ranks(mesh, 4, Parts::shuffled);
    for (const auto& name : device_names())
      comm::run_in_process(4, [&](const Process& process) {
        SCOPED_TRACE(name);
        body(Part<T>(mesh::local_part(mesh, ranks, process)), device::make_device(name, 1));
      });
  }
  /// The copies of so many entries, each way once; none on devices that share the host's memory.
  static device::Copies copies(const device::Device& device, std::size_t to_device, std::size_t to_host) {
    if (device.shares_host_memory()) return {};
    return {.bytes_to_device = static_cast<std::int64_t>(to_device * sizeof(T)),
            .bytes_to_host = static_cast<std::int64_t>(to_host * sizeof(T))};
  }
  static device::Copies bytes_of(device::Copies copies) {
    copies.num_to_device = copies.num_to_host = 0;
    return copies;
  }
  static bool are_same(std::span<const T> a, std::span<const T> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
  }
};
using Numbers = ::testing::Types<double, float>;
TYPED_TEST_SUITE(GhostsOfDevices, Numbers);

TYPED_TEST(GhostsOfDevices, GetTheValuesOfTheirOwners) {
  using T = TypeParam;
  this->for_each_part([this](const Part<T>& part, const std::shared_ptr<device::Device>& device) {
    auto expected = part.values();
    part.for_each_field(expected, [](const comm::GhostExchange& exchange, std::span<T> values) {
      exchange.finish_forward(exchange.start_forward(values));
    });
    device::Array<T> made(device, part.values());
    (void)made.device_write();
    const auto& x = made;
    const op::Ghosts ghosts(device, part.system());
    ghosts.finish_update(ghosts.start_update(x)); // brings tables to the device
    const auto before = device->copies();
    ghosts.finish_update(ghosts.start_update(x));
    EXPECT_EQ(this->bytes_of(device->copies() - before), this->copies(*device, part.num_ghosts(), part.num_sent()));
    EXPECT_TRUE(this->are_same(x.host_read(), expected));
  });
}

TYPED_TEST(GhostsOfDevices, AreAddedToTheirOwnersInTheOrderOfRanks) {
  using T = TypeParam;
  this->for_each_part([this](const Part<T>& part, const std::shared_ptr<device::Device>& device) {
    auto expected = part.values();
    const auto add = [](const comm::GhostExchange& exchange, std::span<T> values) {
      exchange.finish_reverse(exchange.start_reverse(std::span<const T>(values)), values, std::plus<>());
    };
    part.for_each_field(expected, add);
    device::Array<T> y(device, part.values());
    (void)y.device_write();
    const op::Ghosts ghosts(device, part.system());
    ghosts.add_to_owners(y);
    EXPECT_TRUE(this->are_same(y.host_read(), expected));
    (void)y.device_write();
    const auto before = device->copies();
    ghosts.add_to_owners(y);
    EXPECT_EQ(this->bytes_of(device->copies() - before), this->copies(*device, part.num_sent(), part.num_ghosts()));
    part.for_each_field(expected, add);
    EXPECT_TRUE(this->are_same(y.host_read(), expected));
  });
}

TYPED_TEST(GhostsOfDevices, AreClearedWithTheOwnedEntriesOfInterfaces) {
  using T = TypeParam;
  this->for_each_part([](const Part<T>& part, const std::shared_ptr<device::Device>& device) {
    for (const bool owned : {false, true}) {
      auto expected = part.values();
      for (std::size_t f = 0; f < part.system().spaces.size(); ++f) {
        const auto& space = *part.system().spaces[f];
        const auto offset = part.system().offset(f);
        for (auto i = owned ? space.interface_begin() : space.index_map().num_owned(); i < space.num_local(); ++i)
          expected[static_cast<std::size_t>(offset + i)] = 0;
      }
      device::Array<T> y(device, part.values());
      op::Ghosts(device, part.system()).clear(y, owned);
      EXPECT_TRUE(std::ranges::equal(y.host_read(), expected));
    }
  });
}

} // namespace
} // namespace rafter::test
