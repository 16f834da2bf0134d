// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <rafter/base/sampling.hpp>

/// Options of suites: a table per suite, which parses, checks and explains them.
namespace rafter::bench {

/// "--degrees LIST". `set` throws InputError for what the option does not accept.
struct Option {
  std::string key, value, help;
  std::function<void(const std::string& text)> set;
};

/// Options that write into `target`, which must outlive them; its value now is the default that the help names. Lists
/// are separated by commas; of integers a part may be a range, "1..8". The help of names lists those that are accepted.
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

/// Reads "--key value" and "--key=value". Throws InputError that names the suite, the option and what is accepted.
void parse(const std::string& suite, std::span<const std::string> arguments, std::span<const Option> options);

/// One line per option.
std::string describe(std::span<const Option> options);

/// What all suites share.
struct Settings {
  std::vector<int> degrees{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<double> million_dofs{0}; ///< 0: larger than the caches
  int threads = 1;
  base::SamplingOptions sampling;  ///< `threads` is set by the one above
  std::string machine = "fresh";   ///< or "kept"
  std::string json, compare, plot; ///< paths; "": none
};
std::vector<Option> common_options(Settings& settings);

} // namespace rafter::bench
