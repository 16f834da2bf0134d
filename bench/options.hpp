// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/base/sampling.hpp>
#include <rafter/device/device.hpp>

/// The options of a suite are a table, by which they are parsed, checked and explained.
namespace rafter::bench {

/// An option is written "--degrees LIST". `set` throws InputError for values that the option does not accept.
struct Option {
  std::string key, value, help;
  std::function<void(const std::string& text)> set;
};

/// Each of the following functions makes an option that writes into `target`, which must outlive it; its present value
/// is the default that the help names. Lists are separated by commas; a part of a list of integers may be a range,
/// "1..8". The help of names lists those that are accepted.
Option integer_option(const std::string& key, const std::string& help, int& target, int least, int most);
Option number_option(const std::string& key, const std::string& help, double& target, double least, double most);
Option integers_option(const std::string& key, const std::string& help, std::vector<int>& target, int least, int most);
Option numbers_option(const std::string& key, const std::string& help, std::vector<double>& target, double least,
                      double most);
Option names_option(const std::string& key, const std::string& help, std::vector<std::string>& target,
                    const std::vector<std::string>& accepted);
Option name_option(const std::string& key, const std::string& help, std::string& target,
                   const std::vector<std::string>& accepted);
Option text_option(const std::string& key, const std::string& value, const std::string& help, std::string& target);

/// Reads "--key value" and "--key=value", and returns the keys. Throws InputError that names the suite, the option and
/// what is accepted.
std::vector<std::string> parse(const std::string& suite, std::span<const std::string> arguments,
                               std::span<const Option> options);

/// Returns one line per option.
std::string describe(std::span<const Option> options);

struct MeshFile;

/// All suites have these settings.
struct Settings {
  std::vector<int> degrees{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<double> million_dofs{0}; ///< 0 takes a size larger than the caches
  int threads = 1;
  base::SamplingOptions sampling;       ///< its `threads` is set to the one above
  std::string device = "host";          ///< device on which kernels run, as for --device of the other commands
  std::string machine = "fresh";        ///< "fresh" measures the machine, "kept" takes the record
  std::string json, compare, plot;      ///< paths; not written or read if empty
  std::string mesh_path;                ///< names the mesh that is taken instead of squares and cubes, unless empty
  int refinements = 0;                  ///< is how often that mesh is refined
  std::shared_ptr<const MeshFile> mesh; ///< holds what read_mesh_file found there; null if no mesh was asked for
};
/// Suites of solves need sizes; others take 0 for twice the last cache.
std::vector<Option> common_options(Settings& settings, bool has_solves = false);
/// The option --device, for suites that take it (Suite::takes_device).
Option device_option(Settings& settings);

/// A row of a suite, and the texts of its plans; an empty text leaves the choice to the planner.
struct PlannedRow {
  std::string name;
  std::vector<std::string> plans;
};
/// Takes those of the chosen rows whose plans run on the device. Prints which are left out, or throws InputError with
/// those that run where the option `key`, which names rows, is among the `given` ones.
void keep_rows_of_device(const std::string& suite, const std::string& key, std::span<const std::string> given,
                         std::span<const PlannedRow> rows, const device::Device& device,
                         std::vector<std::string>& chosen);

} // namespace rafter::bench
