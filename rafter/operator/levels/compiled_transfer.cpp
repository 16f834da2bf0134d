// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/levels/compiled_transfer.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/device/compile_all.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/operator/levels/transfer_kernel.hpp>
#include <rafter/operator/run/staged_kernels.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/tune/device_probe.hpp>
#include <rafter/tune/unweighed_plans.hpp>

namespace rafter::op {
namespace {

using kernel::TransferDirection;

constexpr std::array directions{TransferDirection::prolongation, TransferDirection::restriction};

void require_fields(const TransferSpecification& of, std::size_t field) {
  const auto &coarse = *of.coarse.spaces[field], &fine = *of.fine.spaces[field];
  if (coarse.family != fine.family || coarse.num_components() != fine.num_components())
    throw base::InputError(fmt::format("a transfer from '{}' to '{}': the fields have other elements or components",
                                       coarse.name, fine.name));
  if (of.refinement != nullptr && (coarse.is_broken() || fine.is_broken()))
    throw base::InputError(fmt::format(
        "a transfer from '{}' to '{}': cells of broken spaces share nothing with their children's neighbours; "
        "transfers between meshes need continuous fields",
        coarse.name, fine.name));
}

void require_systems(const TransferSpecification& of) {
  if (of.coarse.spaces.size() != of.fine.spaces.size())
    throw base::InputError(fmt::format("a transfer from {} fields to {}: both sides have the same fields",
                                       of.coarse.spaces.size(), of.fine.spaces.size()));
  if (of.coarse.mesh->distribution != nullptr || of.fine.mesh->distribution != nullptr)
    throw base::InputError("transfers are for whole meshes, not for parts of them");
  if (of.refinement == nullptr && of.coarse.discretisation != of.fine.discretisation)
    throw base::InputError("a transfer without a refinement is between spaces on one discretisation");
  if (of.refinement != nullptr && of.refinement->coarse != of.coarse.mesh)
    throw base::InputError("the refinement of a transfer is that of another mesh than the coarse one");
  for (std::size_t f = 0; f < of.fine.spaces.size(); ++f) require_fields(of, f);
}

class CompiledTransfer final : public Transfer {
public:
  CompiledTransfer(const TransferSpecification& of, TransferOptions options)
      : coarse_(of.coarse), fine_(of.fine), options_(std::move(options)),
        device_(options_.device != nullptr ? options_.device : of.fine.discretisation->device("host")) {
    require_systems(of);
    if (options_.planner == nullptr) options_.planner = tune::planner_of(*device_);
    for (std::size_t field = 0; field < fine_.spaces.size(); ++field)
      fields_.push_back(std::make_unique<TransferStages>(transfer_stages(of, field, device_)));
    make_kernels();
  }

  std::int64_t rows() const override { return fine_.size(); }
  std::int64_t columns() const override { return coarse_.size(); }
  void prolongate(const Vector& coarse, Vector& fine) const override {
    run(TransferDirection::prolongation, coarse, fine, false);
  }
  void prolongate_and_add(const Vector& coarse, Vector& fine) const override {
    run(TransferDirection::prolongation, coarse, fine, true);
  }
  void restrict_to(const Vector& fine, Vector& coarse) const override {
    run(TransferDirection::restriction, fine, coarse, false);
  }
  void prolongate(const SingleVector& coarse, SingleVector& fine) const override {
    run(TransferDirection::prolongation, coarse, fine, false);
  }
  void prolongate_and_add(const SingleVector& coarse, SingleVector& fine) const override {
    run(TransferDirection::prolongation, coarse, fine, true);
  }
  void restrict_to(const SingleVector& fine, SingleVector& coarse) const override {
    run(TransferDirection::restriction, fine, coarse, false);
  }

private:
  using Kernels = std::vector<std::unique_ptr<TransferKernel>>; ///< the kernels of one field, shape (kind)

  static std::size_t number(TransferDirection direction) { return static_cast<std::size_t>(direction); }
  const System& source(TransferDirection direction) const {
    return direction == TransferDirection::prolongation ? coarse_ : fine_;
  }
  const System& target(TransferDirection direction) const {
    return direction == TransferDirection::prolongation ? fine_ : coarse_;
  }

  // --- set-up
  // ---------------------------------------------------------------------------------------------------------

  /// Makes texts at the same time, and compiles them all at once.
  void make_kernels() {
    struct Place {
      TransferDirection direction;
      std::size_t field, kind;
    };
    std::vector<Place> places;
    for (const auto direction : directions) {
      auto& of_direction = kernels_[number(direction)];
      of_direction.resize(fields_.size());
      for (std::size_t field = 0; field < fields_.size(); ++field) {
        of_direction[field].resize(fields_[field]->kinds.size());
        for (std::size_t kind = 0; kind < of_direction[field].size(); ++kind)
          places.push_back({direction, field, kind});
      }
    }
    const tune::Compilers compilers{device_->compilers(), device_->flag_sets()};
    std::vector<device::CompileJob> jobs(places.size());
    base::run_parallel(std::ssize(places), [&](std::int64_t i) {
      const auto& [direction, field, kind] = places[static_cast<std::size_t>(i)];
      const auto& cells = fields_[field]->kinds[kind];
      const auto plan = options_.plan ? in_precision(*options_.plan)
                                      : tune::plan_transfer(cells.cells_per_batch, *options_.planner,
                                                            target_of(*device_), compilers, options_.precision);
      auto& kernel = kernels_[number(direction)][field][kind];
      kernel = std::make_unique<TransferKernel>(cells, direction, plan, *device_);
      jobs[static_cast<std::size_t>(i)] = {kernel->source(),
                                           {.language = device_->language(),
                                            .compiler = kernel->plan()[schedule::key::compiler],
                                            .flag_set = kernel->plan()[schedule::key::flags]}};
    });
    const auto programs = device::compile_all(*device_, jobs);
    auto program = programs.begin();
    for (const auto direction : directions)
      for (std::size_t field = 0; field < fields_.size(); ++field) {
        StagedKernels::Arguments arguments;
        for (auto& kernel : kernels_[number(direction)][field])
          arguments.push_back(kernel->bind(**program++, *fine_.discretisation, device_));
        staged_[number(direction)].push_back(
            std::make_unique<const StagedKernels>(device_, std::move(arguments), stages_of(direction, field)));
      }
    for (auto& field : fields_)
      for (auto& kind : field->kinds) kind.forget_masks();
  }

  StagedKernels::Stages stages_of(TransferDirection direction, std::size_t field) const {
    const auto& kernels = kernels_[number(direction)][field];
    std::vector<BlockChunk> whole;
    for (std::size_t kind = 0; kind < kernels.size(); ++kind)
      if (schedule::may_run_in_any_order(kernels[kind]->way()))
        whole.push_back({kind, 0, static_cast<std::int32_t>(fields_[field]->kinds[kind].num_batches())});
    StagedKernels::Stages stages;
    for (const auto& chunks : fields_[field]->stages) {
      auto& stage = stages.emplace_back();
      for (const auto& chunk : chunks)
        stage.push_back({static_cast<std::size_t>(chunk.block), chunk.batch_begin, chunk.batch_end});
    }
    return with_first(whole, std::move(stages));
  }

  bool is_double() const { return options_.precision == schedule::Precision::double_precision; }
  schedule::Plan in_precision(const schedule::Plan& plan) const {
    return is_double() ? schedule::in_double(plan) : schedule::in_single(plan);
  }

  // --- runs
  // -----------------------------------------------------------------------------------------------------------

  template <class T>
  void run(TransferDirection direction, const device::Array<T>& from, device::Array<T>& to, bool adds) const {
    if (std::is_same_v<T, double> != is_double())
      throw base::InternalError("the vectors have another precision than the transfer");
    check_size(source(direction), from, "the input vector");
    check_size(target(direction), to, "the output vector");
    if (&from == &to) throw base::InputError("input and output are the same vector");
    if (!adds) clear_uncovered(to, target(direction).padding(), !has_adding(direction));
    for (std::size_t field = 0; field < fields_.size(); ++field) run_field(direction, field, from, to, adds);
  }
  /// Says whether kernels add to all entries of some field also where they are to overwrite.
  bool has_adding(TransferDirection direction) const {
    return std::ranges::any_of(kernels_[number(direction)], [](const Kernels& of_field) {
      return std::ranges::any_of(of_field, [](const auto& kernel) { return kernel->adds(); });
    });
  }
  template <class T>
  void run_field(TransferDirection direction, std::size_t field, const device::Array<T>& from, device::Array<T>& to,
                 bool adds) const {
    device::BufferRegistry vectors;
    const auto bytes = [field](const System& system) {
      return sizeof(T) * static_cast<std::size_t>(system.offset(field));
    };
    vectors.add(schedule::role::input_vector, 0, from.device_read(), bytes(source(direction)));
    vectors.add(schedule::role::output_vector, 0, to.device_write(), bytes(target(direction)));
    staged_[number(direction)][field]->run(vectors, adds);
  }

  System coarse_, fine_;
  TransferOptions options_;
  std::shared_ptr<device::Device> device_;
  std::vector<std::unique_ptr<TransferStages>> fields_;
  std::array<std::vector<Kernels>, directions.size()> kernels_; ///< shape (direction)(field)
  std::array<std::vector<std::unique_ptr<const StagedKernels>>, directions.size()>
      staged_; ///< the same kernels, shape (direction)(field)
};

} // namespace

std::unique_ptr<Transfer> make_transfer(const TransferSpecification& specification, const TransferOptions& options) {
  return std::make_unique<CompiledTransfer>(specification, options);
}

} // namespace rafter::op
