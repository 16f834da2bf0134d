// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>
#include <unordered_map>

#include <rafter/form/scalar_graph.hpp>

namespace rafter::kernel {

/// The extent to which factors that do not depend on fields are moved out of expressions.
enum class Gathering : std::uint8_t {
  none,    ///< expressions stay as written
  linear,  ///< out of sums whose terms share the factor, and together with other such factors: 2 mu (d g + d h) = (2 mu
           ///< d) (g + h)
  products ///< also out of products of fields: (d f) g = d (f g)
};

/// Rewrites expressions so that all factors that do not depend on fields (trial functions, coefficient fields) stand
/// together in front of the factor that does. However many they are, they cost one product with fields, and their own
/// product is formed once per point, per cell or at set-up.
class CoefficientGatherer {
public:
  CoefficientGatherer(form::ScalarGraph& graph, Gathering gathering) : graph_(graph), gathering_(gathering) {}
  form::NodeId operator()(form::NodeId root);

private:
  /// The value coefficient * core, where only the core depends on fields. A core of -1: the value does not depend on
  /// fields; a coefficient of -1 is 1.
  struct Scaled {
    form::NodeId coefficient = -1, core = -1;
  };
  Scaled made(form::NodeId id);
  Scaled scaled(const Scaled& value, form::NodeId factor);
  Scaled sum(form::NodeId id);
  Scaled product(form::NodeId id);
  form::NodeId value(const Scaled& value);
  form::NodeId value_of(form::NodeId id) { return id < 0 ? id : value(known_.at(id)); }

  form::ScalarGraph& graph_;
  Gathering gathering_;
  std::unordered_map<form::NodeId, Scaled> known_;
};

} // namespace rafter::kernel
