// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/hdf5_reader.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/input_file.hpp>
#include <rafter/io/hdf5_handle.hpp>
#include <rafter/mesh/limits.hpp>

namespace rafter::io {

class Hdf5Reader::State {
public:
  explicit State(const std::string& path) : path_(path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) fail(error ? "cannot be opened: " + error.message() : "no such file");
    if (const auto kind = base::irregular_kind(path); !kind.empty())
      fail(fmt::format("not a file but {}; accepted is an HDF5 file", kind));
    if (H5Fis_hdf5(path.c_str()) <= 0) fail("is no HDF5 file, or cannot be read");
    file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    require(file_.get() >= 0);
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw base::InputError(fmt::format("\"{}\": {}", path_, reason));
  }
  void require(bool is_good) const {
    if (!is_good) fail("cannot be read: " + hdf5_reason());
  }
  Handle checked(hid_t id, herr_t (*closer)(hid_t)) const {
    require(id >= 0);
    return {id, closer};
  }
  Handle open_dataset(const std::string& name) const {
    return checked(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
  }
  hid_t file() const { return file_.get(); }

  /// The number of values in some rows of a dataset. Throws InputError where the file cannot hold what the dataset
  /// declares, and EnvironmentError where the memory cannot, so that nothing is allocated for numbers that are not
  /// there.
  std::size_t checked_size(const std::string& dataset, std::span<const hsize_t> extents, std::size_t bytes_each) const;

private:
  void require_stored(const std::string& dataset, const Handle& handle) const;

  QuietErrors quiet_;
  std::string path_;
  Handle file_;
};

namespace {

/// deflate makes no block smaller than by this factor.
constexpr double most_deflation = 1032;

/// Returns how many bytes at most come of each byte that is stored; nothing where a filter has no bound that is known.
std::optional<double> most_expansion(hid_t properties) {
  double factor = 1;
  for (int i = 0; i < H5Pget_nfilters(properties); ++i) {
    unsigned flags = 0, settings = 0;
    std::size_t num_values = 0;
    const auto filter =
        H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &num_values, nullptr, 0, nullptr, &settings);
    if (filter == H5Z_FILTER_DEFLATE)
      factor *= most_deflation;
    else if (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
      return std::nullopt;
  }
  return factor;
}

double product(std::span<const hsize_t> extents) {
  double result = 1;
  for (const auto extent : extents) result *= static_cast<double>(extent);
  return result;
}

std::vector<hsize_t> extents_of(const Handle& space) {
  const int rank = H5Sget_simple_extent_ndims(space.get());
  std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(rank, 0)));
  if (rank < 0 || H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr) < 0) return {0};
  return extents;
}

} // namespace

/// Throws InputError unless all numbers of a dataset stand in the file itself, as far as its tables say.
void Hdf5Reader::State::require_stored(const std::string& dataset, const Handle& handle) const {
  const Handle space = checked(H5Dget_space(handle.get()), H5Sclose);
  const Handle type = checked(H5Dget_type(handle.get()), H5Tclose);
  const Handle properties = checked(H5Dget_create_plist(handle.get()), H5Pclose);
  const auto extents = extents_of(space);
  const double declared = product(extents) * static_cast<double>(H5Tget_size(type.get()));
  if (declared == 0) return;
  hsize_t file_size = 0;
  require(H5Fget_filesize(file_.get(), &file_size) >= 0);
  const auto refuse = [&](double stored) {
    fail(fmt::format("{} declares {:.4g} bytes, of which the file holds {:.4g}: it is truncated or wrong", dataset,
                     declared, stored));
  };
  const double stored =
      std::min(static_cast<double>(H5Dget_storage_size(handle.get())), static_cast<double>(file_size));
  const auto layout = H5Pget_layout(properties.get());
  if (layout == H5D_CONTIGUOUS && H5Pget_external_count(properties.get()) > 0)
    fail(fmt::format("{} stands in other files; accepted are files that hold all of their numbers", dataset));
  if (layout == H5D_VIRTUAL)
    fail(fmt::format("{} is made of other files; accepted are files that hold all of their numbers", dataset));
  if (layout != H5D_CHUNKED) {
    if (stored < declared) refuse(stored);
    return;
  }
  std::vector<hsize_t> chunk(extents.size());
  require(H5Pget_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()) >= 0);
  double num_chunks = 1, chunk_bytes = static_cast<double>(H5Tget_size(type.get()));
  for (std::size_t axis = 0; axis < chunk.size(); ++axis) {
    num_chunks *= std::ceil(static_cast<double>(extents[axis]) / static_cast<double>(chunk[axis]));
    chunk_bytes *= static_cast<double>(chunk[axis]);
  }
  // The numbers of chunks that were never written are not there, though HDF5 would give others in their place.
  hsize_t num_stored = 0;
  require(H5Dget_num_chunks(handle.get(), space.get(), &num_stored) >= 0);
  const auto expansion = most_expansion(properties.get());
  if (static_cast<double>(num_stored) < num_chunks) refuse(static_cast<double>(num_stored) * chunk_bytes);
  if (expansion && stored * *expansion < std::max(declared, chunk_bytes)) refuse(stored);
}

std::size_t Hdf5Reader::State::checked_size(const std::string& dataset, std::span<const hsize_t> extents,
                                            std::size_t bytes_each) const {
  const double bytes = product(extents) * static_cast<double>(bytes_each);
  if (bytes == 0) return 0;
  require_stored(dataset, open_dataset(dataset));
  const double available = mesh::available_memory_bytes();
  if (bytes > available)
    throw base::EnvironmentError(
        fmt::format("\"{}\": {} takes {:.2g} GB, more than the {:.2g} GB of memory that may be "
                    "used here",
                    path_, dataset, 1e-9 * bytes, 1e-9 * available));
  return static_cast<std::size_t>(product(extents));
}

Hdf5Reader::Hdf5Reader(const std::string& path) : state_(std::make_unique<State>(path)) {}
Hdf5Reader::~Hdf5Reader() = default;

bool Hdf5Reader::has(const std::string& name) const {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = name.find('/', end + 1);
    if (H5Lexists(state_->file(), name.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return true;
}

std::vector<std::string> Hdf5Reader::members(const std::string& group) const {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
    static_cast<std::vector<std::string>*>(data)->emplace_back(name);
    return 0;
  };
  const Handle handle = state_->checked(H5Gopen2(state_->file(), group.c_str(), H5P_DEFAULT), H5Gclose);
  if (H5Literate(handle.get(), H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, add, &names) >= 0) return names;
  names.clear();
  state_->require(H5Literate(handle.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names) >= 0);
  return names;
}

std::vector<std::int64_t> Hdf5Reader::shape(const std::string& dataset) const {
  const Handle handle = state_->open_dataset(dataset);
  const Handle space = state_->checked(H5Dget_space(handle.get()), H5Sclose);
  const auto extents = extents_of(space);
  if (product(extents) > static_cast<double>(std::numeric_limits<std::int64_t>::max() / 16))
    state_->fail(fmt::format("{} declares {:.4g} numbers: it is wrong", dataset, product(extents)));
  return {extents.begin(), extents.end()};
}

template <class T> std::vector<T> Hdf5Reader::read(const std::string& dataset) const {
  const auto extents = shape(dataset);
  const auto size = state_->checked_size(dataset, std::vector<hsize_t>(extents.begin(), extents.end()), sizeof(T));
  const Handle handle = state_->open_dataset(dataset);
  std::vector<T> values(size);
  if (size > 0)
    state_->require(H5Dread(handle.get(), memory_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  return values;
}

template <class T>
std::vector<T> Hdf5Reader::read_rows(const std::string& dataset, std::int64_t first, std::int64_t num_rows) const {
  const auto extents = shape(dataset);
  if (extents.empty() || first < 0 || num_rows < 0 || first > extents[0] - num_rows)
    state_->fail(fmt::format("{} does not have the rows {} to {}", dataset, first, first + num_rows - 1));
  std::vector<hsize_t> starts(extents.size(), 0), counts(extents.begin(), extents.end());
  starts[0] = static_cast<hsize_t>(first);
  counts[0] = static_cast<hsize_t>(num_rows);
  const hsize_t size = state_->checked_size(dataset, counts, sizeof(T));
  std::vector<T> values(size);
  if (size == 0) return values;
  const Handle handle = state_->open_dataset(dataset);
  const Handle rows = state_->checked(H5Dget_space(handle.get()), H5Sclose);
  state_->require(H5Sselect_hyperslab(rows.get(), H5S_SELECT_SET, starts.data(), nullptr, counts.data(), nullptr) >= 0);
  const Handle memory = state_->checked(H5Screate_simple(1, &size, nullptr), H5Sclose);
  state_->require(H5Dread(handle.get(), memory_type<T>(), memory.get(), rows.get(), H5P_DEFAULT, values.data()) >= 0);
  return values;
}

std::string Hdf5Reader::text_attribute(const std::string& group, const std::string& name) const {
  if (H5Aexists_by_name(state_->file(), group.c_str(), name.c_str(), H5P_DEFAULT) <= 0) return "";
  const Handle attribute =
      state_->checked(H5Aopen_by_name(state_->file(), group.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Handle type = state_->checked(H5Aget_type(attribute.get()), H5Tclose);
  const Handle space = state_->checked(H5Aget_space(attribute.get()), H5Sclose);
  // A list of strings would overflow the text, which has room for one.
  const bool is_one = H5Sget_simple_extent_npoints(space.get()) == 1;
  constexpr hsize_t longest = 65536; // attributes are names and hashes
  if (!is_one || H5Aget_storage_size(attribute.get()) > longest || H5Tget_class(type.get()) != H5T_STRING ||
      H5Tis_variable_str(type.get()) > 0)
    return "";
  std::string text(H5Tget_size(type.get()), ' ');
  state_->require(H5Aread(attribute.get(), type.get(), text.data()) >= 0);
  return text.substr(0, text.find('\0'));
}

template std::vector<double> Hdf5Reader::read<double>(const std::string&) const;
template std::vector<std::int64_t> Hdf5Reader::read<std::int64_t>(const std::string&) const;
template std::vector<std::int32_t> Hdf5Reader::read<std::int32_t>(const std::string&) const;
template std::vector<std::uint8_t> Hdf5Reader::read<std::uint8_t>(const std::string&) const;
template std::vector<double> Hdf5Reader::read_rows<double>(const std::string&, std::int64_t, std::int64_t) const;

} // namespace rafter::io
