// SPDX-License-Identifier: BSD-3-Clause
#include <bench/peers.hpp>

#include <nlohmann/json.hpp>

namespace rafter::bench {
namespace {

/// This is the file in bench/data, which is compiled in.
constexpr const char* peer_text =
#include "cpu_peers.inc"
    ;

} // namespace

std::optional<double> peer_rate(const std::string& table, const std::string& row, int degree,
                                const machine::Machine& machine) {
  static const auto peers = nlohmann::json::parse(peer_text);
  if (!peers.contains(table)) return std::nullopt;
  const auto& rows = peers.at(table);
  const auto index = static_cast<std::size_t>(degree - 1);
  if (!rows.contains(row) || index >= rows.at(row).size() || rows.at(row).at(index).is_null()) return std::nullopt;
  const double peak = peers.at("machine").at("fma_flops_per_second").get<double>();
  return rows.at(row).at(index).get<double>() * machine.peak_flops(1) / peak;
}

} // namespace rafter::bench
