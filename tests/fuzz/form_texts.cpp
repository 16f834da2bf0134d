// SPDX-License-Identifier: BSD-3-Clause
#include <random>

#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/form/printer.hpp>
#include <tests/property/form_corpus.hpp>

/// Any byte string is parsed, lowered and printed again, or refused with an InputError.
namespace rafter::form {
namespace {

using Generator = std::mt19937;

std::size_t below(Generator& generator, std::size_t n) {
  return std::uniform_int_distribution<std::size_t>(0, n - 1)(generator);
}

/// Changes a byte, removes or doubles a part, or inserts a part of another text.
std::string mutated(std::string text, const std::string& other, Generator& generator) {
  const std::size_t at = below(generator, text.size() + 1);
  const std::size_t length = below(generator, text.size() - at + 1);
  switch (below(generator, 4)) {
  case 0:
    if (at < text.size()) text[at] = static_cast<char>(below(generator, 256));
    return text;
  case 1:
    return text.erase(at, length);
  case 2:
    return text.insert(at, text.substr(at, length));
  default: {
    const std::size_t from = below(generator, other.size());
    return text.insert(at, other.substr(from, below(generator, other.size() - from) + 1));
  }
  }
}

/// Returns whether the text is accepted; any exception but InputError fails the test.
bool survives(const std::string& text, const Scope& scope) {
  try {
    const Form form = parse_form(text, scope);
    lower(form);
    EXPECT_EQ(parse_form(to_text(form), scope), form) << text;
    return true;
  } catch (const base::InputError& error) {
    EXPECT_FALSE(std::string(error.what()).empty());
    return false;
  }
}

TEST(Fuzz, MutatedFormsParseOrAreRefused) {
  Generator generator(20240501);
  const Scope scope = test::make_scope(3);
  const auto seeds = test::corpus();
  int accepted = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string text = seeds[below(generator, seeds.size())].text;
    for (std::size_t n = below(generator, 4) + 1; n > 0; --n)
      text = mutated(text, seeds[below(generator, seeds.size())].text, generator);
    accepted += survives(text, scope);
  }
  EXPECT_GT(accepted, 60); // mutated texts are also accepted by the parser
}

} // namespace
} // namespace rafter::form
