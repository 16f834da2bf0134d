// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/hdf5_reader.hpp>

#include <filesystem>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/io/hdf5_handle.hpp>

namespace rafter::io {

class Hdf5Reader::State {
public:
  explicit State(const std::string& path) : path_(path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) fail("no such file");
    if (std::filesystem::is_directory(status)) fail("is a folder, not a file");
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

private:
  QuietErrors quiet_;
  std::string path_;
  Handle file_;
};

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
  const int rank = H5Sget_simple_extent_ndims(space.get());
  state_->require(rank >= 0);
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  state_->require(H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr) >= 0);
  return {extents.begin(), extents.end()};
}

template <class T> std::vector<T> Hdf5Reader::read(const std::string& dataset) const {
  std::size_t size = 1;
  for (const auto extent : shape(dataset)) size *= static_cast<std::size_t>(extent);
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
  hsize_t size = 1;
  for (const auto count : counts) size *= count;
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
  if (!is_one || H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0) return "";
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
