// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/plan.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/host/compiler.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/matrix_product.hpp>

namespace rafter::schedule {

namespace {

struct PrecisionKey {
  const char* name;
  Precision Plan::*value;
};
constexpr const char* default_name = "default"; ///< short name of the default plan
constexpr int widest_vector = 16, most_subbatches = 8;

constexpr std::array precisions{PrecisionKey{"storage", &Plan::storage}, PrecisionKey{"compute", &Plan::compute},
                                PrecisionKey{"accumulate", &Plan::accumulate}};

[[noreturn]] void refuse(const std::string& what, const std::string& word, const std::vector<std::string>& accepted) {
  throw base::InputError(fmt::format("plan: unknown {} '{}'{}; accepted: {}", what, word,
                                     base::suggestion(word, accepted), base::join(accepted, ", ")));
}

template <class T, class Name>
T choose(const std::string& what, const std::string& word, std::initializer_list<T> values, Name name) {
  std::vector<std::string> accepted;
  for (const T value : values) {
    if (word == name(value)) return value;
    accepted.emplace_back(name(value));
  }
  refuse(what, word, accepted);
}

int number_in(const std::string& key, const std::string& text, int least, int most) {
  const auto value = [&] {
    try {
      return base::parse_integer(text);
    } catch (const base::InputError& error) {
      throw base::InputError(fmt::format("plan: {}: {} from {} to {}", key, error.what(), least, most));
    }
  }();
  if (value < least || value > most)
    throw base::InputError(fmt::format("plan: {} = {} is out of range ({} to {})", key, text, least, most));
  return static_cast<int>(value);
}

int power_of_two_in(const std::string& key, const std::string& text, int most) {
  const int value = number_in(key, text, 1, most);
  if (!std::has_single_bit(static_cast<unsigned>(value)))
    throw base::InputError(fmt::format("plan: {} = {} is no power of two", key, text));
  return value;
}

/// Checks the name of a compiler: control characters would break the one line that a plan is, and a zero byte would end
/// the name early.
std::string compiler_name(const std::string& value) {
  if (value.empty())
    throw base::InputError("plan: compiler is empty; accepted is default, or the name or path of a C compiler");
  if (std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    throw base::InputError("plan: compiler holds a control character; accepted is the name or path of a C compiler");
  return value == "default" ? "" : value;
}

std::string store_name(bool is_streaming) { return is_streaming ? "streaming" : "cached"; }

std::string index_name(bool has_lists) { return has_lists ? "dofs" : "runs"; }
std::string gather_name(bool is_by_lane) { return is_by_lane ? "scalar" : "vector"; }

} // namespace

std::string_view name(Precision precision) { return precision == Precision::double_precision ? "double" : "float"; }

std::string_view name(Scatter scatter) {
  switch (scatter) {
  case Scatter::coloured:
    return "coloured";
  case Scatter::two_pass:
    return "two-pass";
  default:
    return "atomic";
  }
}

namespace {

/// Says whether a plan has products with dense tables, which some keys concern.
bool has_dense_products(const Plan& plan) { return kernel::has_dense_products(plan.contraction); }
/// Says whether a plan has SIMD lanes; plans without do not use patches.
bool has_lanes(const Plan& plan) { return plan.mapping != "plain" && may_have_lanes(plan); }
bool is_of_host(const Plan& plan) { return !has_items(plan); }
/// Says whether a plan may prefetch and stream.
bool has_lanes_of_host(const Plan& plan) { return is_of_host(plan) && has_lanes(plan); }
bool always(const Plan&) { return true; }
std::string or_default(const std::string& name) { return name.empty() ? "default" : name; }

/// One key of the text. A key that does not matter to a plan may have any value without changing the kernel.
struct Key {
  const char* name;
  std::string (*text)(const Plan& plan);
  bool (*matters)(const Plan& plan);
  bool (*is_printed)(const Plan& plan) = always; ///< says whether the full text has the key
};
constexpr std::array keys{
    Key{"contraction", [](const Plan& p) { return std::string(kernel::name(p.contraction)); }, always},
    Key{"factors", [](const Plan& p) { return kernel::name(p.factors); }, always},
    Key{"mapping", [](const Plan& p) { return p.mapping; }, always},
    Key{"vector_width", [](const Plan& p) { return std::to_string(p.vector_width); }, always},
    Key{"even_odd", [](const Plan& p) { return std::to_string(p.even_odd); },
        [](const Plan& p) { return !has_dense_products(p); }},
    Key{"rows", [](const Plan& p) { return std::to_string(p.rows); }, has_dense_products},
    Key{"subbatches", [](const Plan& p) { return std::to_string(p.subbatches); },
        [](const Plan& p) { return has_dense_products(p) && may_have_lanes(p); }, may_have_lanes},
    Key{"unroll", [](const Plan& p) { return std::to_string(p.unroll); }, has_dense_products},
    Key{"patches", [](const Plan& p) { return std::string(p.has_patches ? "1" : "0"); }, has_lanes, may_have_lanes},
    Key{"indices", [](const Plan& p) { return index_name(p.has_dof_lists); }, has_lanes, may_have_lanes},
    Key{"gathers", [](const Plan& p) { return gather_name(p.gathers_by_lane); }, has_lanes, may_have_lanes},
    Key{"scatter", [](const Plan& p) { return std::string(name(p.scatter)); }, has_items, has_items},
    Key{"prefetch", [](const Plan& p) { return std::string(p.prefetch ? "1" : "0"); }, has_lanes_of_host, is_of_host},
    Key{"stores", [](const Plan& p) { return store_name(p.is_streaming); }, has_lanes_of_host, is_of_host},
    Key{"storage", [](const Plan& p) { return std::string(name(p.storage)); }, always},
    Key{"compute", [](const Plan& p) { return std::string(name(p.compute)); }, always},
    Key{"accumulate", [](const Plan& p) { return std::string(name(p.accumulate)); }, always},
    Key{"compiler", [](const Plan& p) { return or_default(p.compiler); }, always},
    Key{"flags", [](const Plan& p) { return or_default(p.flags); }, always}};

std::vector<std::string> key_names() {
  std::vector<std::string> names;
  for (const auto& key : keys) names.emplace_back(key.name);
  return names;
}

/// Returns the number of lanes for a precision: twice as many for floats as for doubles, which fill the same registers.
int width_for(Precision compute, int of_doubles) {
  return of_doubles > 1 && compute == Precision::single_precision ? 2 * of_doubles : of_doubles;
}

/// The default plan for the mapping and the precision of computation of a plan.
Plan default_beside(const Plan& plan) {
  Plan result;
  result.vector_width = has_items(plan) ? 1 : width_for(plan.compute, result.vector_width);
  return result;
}

/// Text of the chosen keys whose value differs from the default; "default" if there are none.
template <class Taken> std::string differences(const Plan& plan, Taken is_taken) {
  const Plan usual = default_beside(plan);
  std::vector<std::string> words;
  for (const auto& key : keys)
    if (is_taken(key) && key.text(plan) != key.text(usual)) words.push_back(key.name + ("=" + key.text(plan)));
  return words.empty() ? default_name : base::join(words, " ");
}

} // namespace

void set(Plan& plan, const std::string& key, const std::string& value) {
  using kernel::Contraction;
  if (key == "contraction")
    plan.contraction = choose(key, value,
                              {Contraction::dense, Contraction::modal, Contraction::per_derivative,
                               Contraction::collocated, Contraction::separable},
                              [](Contraction c) { return kernel::name(c); });
  else if (key == "factors") {
    const auto factors = kernel::parse_factor_storage(value);
    if (!factors) refuse(key, value, kernel::factor_storage_names());
    plan.factors = *factors;
  } else if (key == "mapping") {
    auto names = mapping_names();
    names.emplace_back(assembled_mapping);
    if (std::find(names.begin(), names.end(), value) == names.end()) refuse(key, value, names);
    plan.mapping = value;
  } else if (key == "vector_width")
    plan.vector_width = power_of_two_in(key, value, widest_vector);
  else if (key == "even_odd")
    plan.even_odd = number_in(key, value, 0, 64);
  else if (key == "rows")
    plan.rows = number_in(key, value, 1, 28);
  else if (key == "subbatches")
    plan.subbatches = power_of_two_in(key, value, most_subbatches);
  else if (key == "unroll")
    plan.unroll = number_in(key, value, 0, 4096);
  else if (key == "patches")
    plan.has_patches = number_in(key, value, 0, 1) != 0;
  else if (key == "indices")
    plan.has_dof_lists = choose(key, value, {false, true}, index_name);
  else if (key == "gathers")
    plan.gathers_by_lane = choose(key, value, {false, true}, gather_name);
  else if (key == "scatter")
    plan.scatter =
        choose(key, value, {Scatter::atomic, Scatter::coloured, Scatter::two_pass}, [](Scatter s) { return name(s); });
  else if (key == "prefetch")
    plan.prefetch = number_in(key, value, 0, 1) != 0;
  else if (key == "stores")
    plan.is_streaming = choose(key, value, {false, true}, store_name);
  else if (const auto* precision = std::ranges::find(precisions, key, &PrecisionKey::name);
           precision != precisions.end())
    plan.*precision->value = choose(key, value, {Precision::double_precision, Precision::single_precision},
                                    [](Precision p) { return name(p); });
  else if (key == "compiler")
    plan.compiler = compiler_name(value);
  else if (key == "flags") {
    const auto names = device::flag_set_names();
    if (std::find(names.begin(), names.end(), value) == names.end()) refuse(key, value, names);
    plan.flags = value == "default" ? "" : value;
  } else
    refuse("key", key, key_names());
}

std::string to_string(const Plan& plan) {
  std::vector<std::string> words;
  for (const auto& key : keys)
    if (key.is_printed(plan)) words.push_back(key.name + ("=" + key.text(plan)));
  return base::join(words, " ");
}

std::string short_name(const Plan& plan) {
  return differences(plan, [&](const Key& key) { return key.matters(plan); });
}

std::vector<std::string> short_names(std::span<const Plan> plans) {
  std::vector<std::string> names;
  for (const auto& plan : plans) names.push_back(short_name(plan));
  const auto shares_name = [&](std::size_t i) {
    for (std::size_t k = 0; k < plans.size(); ++k)
      if (plans[k] != plans[i] && short_name(plans[k]) == short_name(plans[i])) return true;
    return false;
  };
  for (std::size_t i = 0; i < plans.size(); ++i)
    if (shares_name(i)) names[i] = differences(plans[i], [](const Key&) { return true; });
  return names;
}

Plan without_compilation(Plan plan) {
  plan.compiler.clear();
  plan.flags.clear();
  return plan;
}

Plan in_double(Plan plan) {
  for (const auto& key : precisions) plan.*key.value = Precision::double_precision;
  return plan;
}

Plan in_single(Plan plan) {
  for (const auto& key : precisions) plan.*key.value = Precision::single_precision;
  return plan;
}

std::string single_keys(const Plan& plan) {
  std::vector<std::string> result;
  for (const auto& key : precisions)
    if (plan.*key.value == Precision::single_precision) result.push_back(std::string(key.name) + "=float");
  return base::join(result, " ");
}

Plan without_unused_keys(Plan plan) {
  const Plan usual = default_beside(plan);
  for (const auto& key : keys)
    if (!key.is_printed(plan)) set(plan, key.name, key.text(usual));
  return plan;
}

Plan parse_plan(const std::string& text, const Plan& usual) {
  Plan plan = usual;
  if (base::trimmed(text) == default_name) return plan;
  std::set<std::string> given;
  for (const auto& word : base::words(text)) {
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      throw base::InputError("plan: '" + word +
                             "' is not of the form key=value; keys: " + base::join(key_names(), ", "));
    const std::string key = word.substr(0, equals);
    set(plan, key, word.substr(equals + 1));
    if (!given.insert(key).second) throw base::InputError("plan: " + key + " is given twice");
  }
  if (plan.accumulate == Precision::single_precision && plan.compute == Precision::double_precision)
    throw base::InputError("plan: accumulate=float needs compute=float: sums of doubles are not kept as floats");
  if (is_assembled(plan) && plan.compute == Precision::single_precision)
    throw base::InputError("plan: compute=float with mapping=assembled, which multiplies in doubles; accepted is "
                           "storage=float, of its entries");
  if (!given.contains("vector_width"))
    plan.vector_width = has_items(plan) && has_items(usual) ? width_for(plan.compute, usual.vector_width)
                                                            : default_beside(plan).vector_width;
  return plan;
}

} // namespace rafter::schedule
