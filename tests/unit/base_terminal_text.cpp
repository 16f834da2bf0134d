// SPDX-License-Identifier: BSD-3-Clause
// Texts reach terminals without anything that a terminal obeys.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <rafter/base/terminal_text.hpp>

namespace rafter::base {
namespace {

TEST(TerminalTexts, OfOrdinaryCharactersStayAsTheyAre) {
  for (const std::string text :
       {"", "plain text\n\twith tabs", "\xc3\xa4\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80 \xe4\xb8\xad",
        "\xc2\xa0\xc3\xbf", "\xef\xbf\xbd \xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbf \xe0\xa0\x80 \xf0\x90\x80\x80"})
    EXPECT_EQ(terminal_text(text), text);
}

TEST(TerminalTexts, ShowControlCharactersAsEscapes) {
  EXPECT_EQ(terminal_text("\x1b[2Ja\rb\bc\a"), "\\x1b[2Ja\\x0db\\x08c\\x07");
  EXPECT_EQ(terminal_text(std::string("\0\x01\x1f\x7f ~", 6)), "\\x00\\x01\\x1f\\x7f ~");
  EXPECT_EQ(terminal_text("\xc2\x80 \xc2\x9b"
                          "31m \xc2\x9f"),
            "\\u0080 \\u009b31m \\u009f")
      << "C1";
  for (const auto& [text, shown] : {std::pair<std::string, std::string>("\xe2\x80\xae", "\\u202e"),
                                    {"\xe2\x80\xaa", "\\u202a"},
                                    {"\xe2\x81\xa6", "\\u2066"},
                                    {"\xe2\x81\xa9", "\\u2069"},
                                    {"\xe2\x80\x8e", "\\u200e"},
                                    {"\xd8\x9c", "\\u061c"},
                                    {"\xe2\x80\xa8", "\\u2028"}})
    EXPECT_EQ(terminal_text("a" + text + "b"), "a" + shown + "b");
}

/// Unicode 15, table 3-7, says what is well formed.
TEST(TerminalTexts, ShowBytesThatAreNoUtf8AsEscapes) {
  EXPECT_EQ(terminal_text("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(terminal_text("\x9b"
                          "31m"),
            "\\x9b31m")
      << "C1 as a byte";
  EXPECT_EQ(terminal_text("a\xc3"), "a\\xc3");
  EXPECT_EQ(terminal_text("\xc3("), "\\xc3(");
  EXPECT_EQ(terminal_text("\xe2\x82z"), "\\xe2\\x82z");
  EXPECT_EQ(terminal_text("\xc0\x9b \xc1\xbf"), "\\xc0\\x9b \\xc1\\xbf") << "ASCII in two bytes";
  EXPECT_EQ(terminal_text("\xe0\x82\x9b"), "\\xe0\\x82\\x9b") << "C1 in three bytes";
  EXPECT_EQ(terminal_text("\xf0\x80\x80\x9b"), "\\xf0\\x80\\x80\\x9b") << "in four";
  EXPECT_EQ(terminal_text("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(terminal_text("\xf4\x90\x80\x80\xf5"), "\\xf4\\x90\\x80\\x80\\xf5") << "above 0x10ffff";
}

TEST(TerminalTexts, MayComeInParts) {
  const std::string text = "a\xe2\x80\xae\xf0\x9f\x98\x80\x1b[0m\xc2\x9b\xe2\x82";
  const std::string shown = terminal_text(text);
  EXPECT_EQ(shown, "a\\u202e\xf0\x9f\x98\x80\\x1b[0m\\u009b\\xe2\\x82");
  for (std::size_t first = 0; first <= text.size(); ++first)
    for (std::size_t second = first; second <= text.size(); ++second) {
      TerminalText parts;
      auto result = parts.shown(text.substr(0, first));
      result += parts.shown(text.substr(first, second - first));
      result += parts.shown(text.substr(second));
      EXPECT_EQ(result + parts.rest(), shown) << first << " " << second;
    }
}

TEST(TerminalTexts, OfJsonHaveTheSameMeaning) {
  const std::string value = "\x1b[2J \x7f \xc2\x9b \xe2\x80\xae \xe2\x82\xac \\ \"\n";
  const auto json = nlohmann::json{{"title", value}, {"n", {1, 2}}}.dump(2);
  const auto shown = terminal_json(json);
  EXPECT_EQ(terminal_text(shown), shown) << "nothing in it is obeyed";
  EXPECT_EQ(nlohmann::json::parse(shown).at("title"), value);
  EXPECT_NE(shown.find("\\u007f \\u009b \\u202e \xe2\x82\xac"), std::string::npos) << shown;
  EXPECT_EQ(terminal_json("[1,\r\n2]"), "[1,\r\n2]");
}

} // namespace
} // namespace rafter::base
