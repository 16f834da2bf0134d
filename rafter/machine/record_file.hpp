// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <rafter/device/host/cache_directory.hpp>
#include <rafter/device/host/cache_entry.hpp>
#include <rafter/machine/machine.hpp>

/// Files of records that were measured on this processor.
namespace rafter::machine {

/// The file of a record, and what it is looked up by.
struct RecordFile {
  std::filesystem::path path;
  std::string kind, hash;
  device::EntryKey key() const { return {kind, hash}; }
};
/// The file of a kind of record of this processor with so many cores.
RecordFile record_file(const device::CacheDirectory& directory, const std::string& kind_of_record, int cores);

/// The record in a file; nothing when there is none, or one that is not of this processor or does not read.
std::optional<Machine> read_record(const RecordFile& file, int cores);

/// The record in a file, or what `measure` returns, which is then kept, as ProbeOptions says of load_or_probe().
Machine kept_or_measured(const RecordFile& file, int cores, const ProbeOptions& options,
                         const std::function<Machine()>& measure);

} // namespace rafter::machine
