#ifndef CTOML_INSPECTION_H
#define CTOML_INSPECTION_H

#include "ctoml.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

namespace {

/// How deep tables and arrays may lie in each other, dotted keys and headers included. The limit of
/// toml++ counts values only.
constexpr size_t most_levels = 32;

/// How many dots a key or a header may have: with more it has more parts than there are levels.
/// toml++ makes a table for each part, and calls itself for each of those when it is done, so that a
/// key of a million parts would overflow the stack.
constexpr size_t most_dots_in_a_key = most_levels - 1;

struct refusal {
    std::string_view text;
    ctoml_position position;
};

/// True where toml++ would step back in its input further than it remembers: a date padded
/// with underscores to the length of its buffer, and a blank. The step is in a function declared
/// `noexcept`, so that its assertion would end the process.
bool is_overlong_date(std::string_view run) {
    const auto underscores = std::count(run.begin(), run.end(), '_');
    return run.size() > 100 && run.size() - static_cast<size_t>(underscores) == 10;
}

/// Reads a document as far as to tell keys and values from strings and comments, refuses what must not
/// reach the parser, and prepares the rest. It need not be right about a document that is no TOML: the
/// parser stops at the first error, and up to there both agree on where strings and comments end.
///
/// toml++ asks of some characters whether they are blanks. Up to 3.4.0 it calls a place unreachable that
/// the question reaches for many that are not ASCII, ä among them. (Later versions answer no.) So it must
/// never ask for one that is not ASCII. It asks in three places:
///
///  - Outside of strings and comments. Such a character is an error there, and so is one after a backslash
///    in a long string. The document is cut behind the first, and U+FFFD stands for it: toml++ knows that
///    this is no blank, and names the same error at the same place.
///  - In a long string, for the first character after a backslash that ends a line, and after the blanks
///    and the empty lines that follow. An escape stands for it, as in "\u00E4", and means the same.
class inspection {
  public:
    explicit inspection(std::string_view document) : document(document) {}

    /// The document for the parser.
    std::string prepared;
    /// The character for which `stand_in` stands at the end of `prepared`, or empty.
    std::string_view replaced;
    /// U+FFFD.
    static constexpr std::string_view stand_in = "\xEF\xBF\xBD";

    /// Throws a `refusal` for a key of too many parts, and for a date that is too long.
    void run() {
        while (at < document.size() && replaced.empty()) {
            const char byte = document[at];
            is_in_number = is_in_number ? !ends_value(byte) : expects_value && begins_number(byte);
            if (is_in_number) {
                step(byte);
                continue;
            }
            switch (byte) {
            case '"':
            case '\'':
                expects_value = false;
                follows_value() ? void(++at) : skip_string(byte);
                break;
            case '#': at = std::min(document.find('\n', at), document.size()); break;
            case '.': count_dot(); break;
            // A key ends at all of these, and never goes on over the end of a line.
            case '\n':
            case '=':
            case ',':
            case '[':
            case ']':
            case '{':
            case '}':
                dots = 0;
                ++at;
                expects_value = expects_value_after(byte);
                break;
            case ' ':
            case '\t':
            case '\r': ++at; break;
            default: expects_value = false; step(byte);
            }
        }
        if (replaced.empty())
            prepared.append(document, copied);
    }

    /// Where something lies in the document that has this place in the prepared one.
    ctoml_position original(ctoml_position prepared) const {
        const auto escape = escapes.find(prepared.line);
        const bool is_moved = escape != escapes.end() && prepared.column > escape->second;
        return {prepared.line, prepared.column - (is_moved ? escape_width - 1 : 0)};
    }

    ctoml_position position_of(size_t offset) const {
        const auto before = document.substr(0, offset);
        const auto line = std::count(before.begin(), before.end(), '\n') + 1;
        // Without a line feed before it, the line starts at npos + 1, which is 0.
        const size_t line_start = before.rfind('\n') + 1;
        const auto column = 1 + std::count_if(before.begin() + line_start, before.end(),
                                              [](char byte) { return (byte & 0xC0) != 0x80; });
        return {static_cast<uint32_t>(line), static_cast<uint32_t>(column)};
    }

  private:
    std::string_view document;
    /// Where it reads, up to where `prepared` has the document, and how many dots there are since the last
    /// key ended.
    size_t at = 0, copied = 0, dots = 0;
    /// The column of the escape in a line. A line has one at most: the backslash before ends a line.
    std::map<uint32_t, uint32_t> escapes;
    /// The number of line feeds up to the last escape.
    uint32_t lines = 0;

    static constexpr uint32_t escape_width = 6;

    /// Whether a value comes next, and the brackets of arrays and inline tables that are open. toml++ looks ahead in
    /// a value that begins like a number up to its end, also over quotes and brackets: they begin nothing there.
    bool expects_value = false, is_in_number = false;
    std::string open;

    bool expects_value_after(char byte) {
        switch (byte) {
        case '=': return true;
        case ',': return !open.empty() && open.back() == '[';
        case '[':
        case '{':
            if (expects_value)
                open += byte;
            return expects_value && byte == '[';
        case ']':
        case '}':
            if (!open.empty())
                open.pop_back();
            return false;
        default: return expects_value && !open.empty();
        }
    }

    static bool begins_number(char byte) {
        return byte == '+' || byte == '-' || (byte >= '0' && byte <= '9');
    }

    static bool ends_value(char byte) {
        return std::string_view(" \t\r\n\v\f]},#").find(byte) != std::string_view::npos;
    }

    /// Steps behind what begins here outside of strings and comments, and is no punctuation.
    void step(char byte) {
        if (is_in_date(byte))
            skip_date();
        else if (!is_ascii(byte) && !is_byte_order_mark())
            cut();
        else
            ++at;
    }

    static bool is_ascii(char byte) { return (byte & 0x80) == 0; }

    bool is_byte_order_mark() const {
        return at < 3 && document.substr(0, 3) == "\xEF\xBB\xBF";
    }

    /// Whether the quote here stands where no string may begin, behind a value or a bare key. toml++ looks ahead
    /// in a value such as 2027"ä, over quotes, so that they hide no character there.
    bool follows_value() const {
        const size_t before = document.substr(0, at).find_last_not_of(" \t");
        // One that is not ASCII is the byte order mark: the document is cut at others.
        return before != document.npos && is_ascii(document[before]) &&
               std::string_view("\n=,[{.").find(document[before]) == std::string_view::npos;
    }

    void count_dot() {
        if (++dots > most_dots_in_a_key)
            throw refusal{"key of more than 32 parts", position_of(at)};
        ++at;
    }

    /// Steps behind the string that begins here.
    void skip_string(char quote) {
        const bool is_long = quotes(quote, 3) == 3;
        at += is_long ? 3 : 1;
        while (at < document.size() && replaced.empty()) {
            if (document[at] == '\\' && quote == '"') {
                is_long ? skip_long_escape() : skip_escape();
            } else if (document[at] == quote) {
                // Up to two quotes stand before the three that end a long string.
                const size_t count = is_long ? quotes(quote, 5) : 1;
                at += count;
                if (!is_long || count >= 3)
                    return;
            } else if (document[at] == '\n' && !is_long) {
                return;
            } else {
                ++at;
            }
        }
    }

    /// How many quotes there are from here on, up to a limit.
    size_t quotes(char quote, size_t limit) const {
        size_t count = 0;
        while (count < limit && at + count < document.size() && document[at + count] == quote)
            ++count;
        return count;
    }

    void skip_escape() { at = std::min(at + 2, document.size()); }

    /// Steps behind the backslash here and what it escapes: a character, or the end of the line with the
    /// blanks and the empty lines around it.
    void skip_long_escape() {
        const size_t end = std::min(document.find_first_not_of(" \t\r\n", at + 1), document.size());
        const bool ends_line = document.substr(at, end - at).find('\n') != document.npos;
        if (end == document.size() || is_ascii(document[end])) {
            ends_line ? void(at = end) : skip_escape();
            return;
        }
        at = end;
        ends_line ? escape() : cut();
    }

    /// The bytes of the character here; none if they are not UTF-8, which the parser refuses by itself.
    std::string_view character() const {
        const auto lead = static_cast<uint8_t>(document[at]);
        const size_t count = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
        const auto bytes = document.substr(at, count);
        const auto is_following = [](char byte) { return (byte & 0xC0) == 0x80; };
        const bool is_whole = lead >= 0xC0 && bytes.size() == count &&
                              std::all_of(bytes.begin() + 1, bytes.end(), is_following);
        return is_whole ? bytes : std::string_view();
    }

    /// Ends the document with U+FFFD in place of the character here.
    void cut() {
        replaced = character();
        if (replaced.empty()) {
            ++at;
            return;
        }
        prepared.append(document, copied, at - copied).append(stand_in);
    }

    /// Steps behind the character here, the first of its line, and puts an escape in its place. toml++ knows
    /// of one of four bytes that it is no blank.
    void escape() {
        const auto bytes = character();
        if (bytes.empty() || bytes.size() > 3) {
            ++at;
            return;
        }
        unsigned value = bytes[0] & (bytes.size() == 2 ? 0x1F : 0x0F);
        for (const char byte : bytes.substr(1))
            value = value << 6 | (byte & 0x3F);
        char text[escape_width + 1];
        std::snprintf(text, sizeof text, "\\u%04X", value);

        lines += std::count(document.begin() + copied, document.begin() + at, '\n');
        escapes[lines + 1] = static_cast<uint32_t>(at - document.rfind('\n', at));
        prepared.append(document, copied, at - copied).append(text);
        at += bytes.size();
        copied = at;
    }

    static bool is_in_date(char byte) {
        return byte == '_' || byte == '-' || (byte >= '0' && byte <= '9');
    }

    /// Steps behind the digits, dashes and underscores that begin here.
    void skip_date() {
        const size_t start = at;
        while (at < document.size() && is_in_date(document[at]))
            ++at;
        if (is_overlong_date(document.substr(start, at - start)))
            throw refusal{"date of more than 100 characters", position_of(start)};
    }
};

} // namespace

#endif
