// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/hdf5_file.hpp>

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

#include <rafter/base/error.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/io/hdf5_handle.hpp>

namespace rafter::io {

class Hdf5Writer::State {
public:
  explicit State(const std::string& path) : path_(base::output_text(path)), output_(path) {
    const Handle properties = checked(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    // The root group would otherwise hold the time of its creation.
    require(H5Pset_obj_track_times(properties.get(), false) >= 0);
    file_ = checked(H5Fcreate(output_.working_path().c_str(), H5F_ACC_TRUNC, properties.get(), H5P_DEFAULT), H5Fclose);
  }

  ~State() {
    datasets_.clear();
    file_.close();
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw base::EnvironmentError(fmt::format("{}: cannot be written: {}", path_, reason));
  }
  Handle checked(hid_t id, herr_t (*closer)(hid_t)) const {
    require(id >= 0);
    return {id, closer};
  }
  void require(bool is_good) const {
    if (!is_good) fail(hdf5_reason());
  }
  hid_t file() const { return file_.get(); }

  struct Dataset {
    Handle handle;
    hsize_t columns = 0, next_row = 0;
    bool grows = false;
  };
  Dataset& dataset(const std::string& name) {
    const auto found = datasets_.find(name);
    if (found == datasets_.end()) throw base::InternalError("no dataset " + name);
    return found->second;
  }
  void add(const std::string& name, Dataset dataset) { datasets_.emplace(name, std::move(dataset)); }

  void commit() {
    for (auto& [name, dataset] : datasets_) require(dataset.handle.close());
    datasets_.clear();
    require(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) >= 0);
    require(file_.close());
    output_.commit();
  }

private:
  QuietErrors quiet_;
  std::string path_; ///< name of the file in messages
  base::OutputFile output_;
  Handle file_;
  std::map<std::string, Dataset> datasets_;
};

Hdf5Writer::Hdf5Writer(const std::string& path) : state_(std::make_unique<State>(path)) {}
Hdf5Writer::~Hdf5Writer() = default;

void Hdf5Writer::make_group(const std::string& name) {
  // Readers such as ParaView list arrays in the order of creation, which HDF5 forgets unless it is asked to track it.
  const Handle properties = state_->checked(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  state_->require(H5Pset_obj_track_times(properties.get(), false) >= 0);
  state_->require(H5Pset_link_creation_order(properties.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0);
  state_->checked(H5Gcreate2(state_->file(), name.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), H5Gclose);
}

void Hdf5Writer::write_attribute(const std::string& group, const std::string& name, const std::string& text) {
  const Handle type = state_->checked(H5Tcopy(H5T_C_S1), H5Tclose);
  state_->require(H5Tset_size(type.get(), text.size()) >= 0 && H5Tset_strpad(type.get(), H5T_STR_NULLPAD) >= 0 &&
                  H5Tset_cset(type.get(), H5T_CSET_ASCII) >= 0);
  const Handle space = state_->checked(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute = state_->checked(H5Acreate_by_name(state_->file(), group.c_str(), name.c_str(), type.get(),
                                                             space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                           H5Aclose);
  state_->require(H5Awrite(attribute.get(), type.get(), text.data()) >= 0);
}

void Hdf5Writer::write_attribute(const std::string& group, const std::string& name,
                                 std::span<const std::int64_t> values) {
  const hsize_t size = values.size();
  const Handle space = state_->checked(H5Screate_simple(1, &size, nullptr), H5Sclose);
  const Handle attribute = state_->checked(H5Acreate_by_name(state_->file(), group.c_str(), name.c_str(), H5T_STD_I64LE,
                                                             space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                           H5Aclose);
  state_->require(H5Awrite(attribute.get(), H5T_NATIVE_INT64, values.data()) >= 0);
}

void Hdf5Writer::write(const std::string& dataset, std::span<const std::int64_t> values) {
  make_dataset<std::int64_t>(dataset, static_cast<std::int64_t>(values.size()), 0);
  append(dataset, values);
}

void Hdf5Writer::write(const std::string& dataset, std::span<const double> values) {
  make_dataset<double>(dataset, static_cast<std::int64_t>(values.size()), 0);
  append(dataset, values);
}

namespace {

/// A chunk of doubles takes half a megabyte, so that the cache of HDF5 (1 MiB per dataset) holds two.
constexpr hsize_t chunk_values = 65536;
/// Levels above 1 take several times as long to compress doubles and make them smaller by only a few percent.
constexpr unsigned deflate_level = 1;

} // namespace

template <class T> void Hdf5Writer::make_dataset(const std::string& dataset, std::int64_t rows, std::int64_t columns) {
  make<T>(dataset, rows, columns, false);
}

template <class T>
void Hdf5Writer::make_growing_dataset(const std::string& dataset, std::int64_t rows, std::int64_t columns) {
  make<T>(dataset, std::max<std::int64_t>(rows, 1), columns, true);
}

template <class T>
void Hdf5Writer::make(const std::string& dataset, std::int64_t rows, std::int64_t columns, bool grows) {
  const std::array<hsize_t, 2> extent{static_cast<hsize_t>(rows), static_cast<hsize_t>(columns)};
  const int rank = columns == 0 ? 1 : 2;
  // Objects do not record their times, so that equal data make equal files.
  const Handle properties = state_->checked(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  state_->require(H5Pset_obj_track_times(properties.get(), false) >= 0);
  if (rows > 0) {
    const std::array<hsize_t, 2> chunk{std::min(extent[0], columns == 0 ? chunk_values : chunk_values / extent[1]),
                                       extent[1]};
    state_->require(H5Pset_chunk(properties.get(), rank, chunk.data()) >= 0 && H5Pset_shuffle(properties.get()) >= 0 &&
                    H5Pset_deflate(properties.get(), deflate_level) >= 0);
  }
  const std::array<hsize_t, 2> start{grows ? 0 : extent[0], extent[1]}, most{H5S_UNLIMITED, extent[1]};
  const Handle space = state_->checked(H5Screate_simple(rank, start.data(), grows ? most.data() : nullptr), H5Sclose);
  state_->add(dataset, {.handle = state_->checked(H5Dcreate2(state_->file(), dataset.c_str(), memory_type<T>(),
                                                             space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
                                                  H5Dclose),
                        .columns = extent[1],
                        .grows = grows});
}

template <class T> void Hdf5Writer::append(const std::string& dataset, std::span<const T> values) {
  if (values.empty()) return;
  auto& target = state_->dataset(dataset);
  const int rank = target.columns == 0 ? 1 : 2;
  const hsize_t columns = target.columns == 0 ? 1 : target.columns;
  const std::array<hsize_t, 2> start{target.next_row, 0}, count{values.size() / columns, columns};
  if (target.grows) {
    const std::array<hsize_t, 2> extent{start[0] + count[0], columns};
    state_->require(H5Dset_extent(target.handle.get(), extent.data()) >= 0);
  }
  const Handle file_space = state_->checked(H5Dget_space(target.handle.get()), H5Sclose);
  const Handle memory_space = state_->checked(H5Screate_simple(rank, count.data(), nullptr), H5Sclose);
  state_->require(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >=
                  0);
  state_->require(H5Dwrite(target.handle.get(), memory_type<T>(), memory_space.get(), file_space.get(), H5P_DEFAULT,
                           values.data()) >= 0);
  target.next_row += count[0];
}

void Hdf5Writer::commit() { state_->commit(); }

template void Hdf5Writer::make_dataset<double>(const std::string&, std::int64_t, std::int64_t);
template void Hdf5Writer::make_dataset<std::int64_t>(const std::string&, std::int64_t, std::int64_t);
template void Hdf5Writer::make_dataset<std::int32_t>(const std::string&, std::int64_t, std::int64_t);
template void Hdf5Writer::make_dataset<std::uint8_t>(const std::string&, std::int64_t, std::int64_t);
template void Hdf5Writer::make_growing_dataset<double>(const std::string&, std::int64_t, std::int64_t);
template void Hdf5Writer::append<double>(const std::string&, std::span<const double>);
template void Hdf5Writer::append<std::int64_t>(const std::string&, std::span<const std::int64_t>);
template void Hdf5Writer::append<std::int32_t>(const std::string&, std::span<const std::int32_t>);
template void Hdf5Writer::append<std::uint8_t>(const std::string&, std::span<const std::uint8_t>);

} // namespace rafter::io
