#include "cre2.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string_view>

namespace {

// Until an expression is known to be too large: measured with the worst of them and 256 KiB.
const int64_t too_large_steps = 700'000;

void tell(std::string_view cause, char *error, size_t error_size) {
    if (error_size == 0)
        return;
    const size_t count = std::min(cause.size(), error_size - 1);
    std::memcpy(error, cause.data(), count);
    error[count] = 0;
}

} // namespace

cre2_result cre2_search(const char *pattern, size_t pattern_count, const char *text,
                        size_t text_count, int64_t memory, int64_t *steps, char *error,
                        size_t error_size) {
    const int64_t limit = *steps;
    *steps = 500 + 15 * static_cast<int64_t>(pattern_count);
    try {
        RE2::Options options;
        options.set_max_mem(memory);
        options.set_log_errors(false);
        const RE2 expression({pattern, pattern_count}, options);
        if (!expression.ok()) {
            if (expression.error_code() == RE2::ErrorPatternTooLarge)
                *steps += too_large_steps;
            tell(expression.error(), error, error_size);
            return cre2_result_refused;
        }
        // Compiling an instruction takes 15 steps, and each byte may visit each instruction.
        *steps += expression.ProgramSize() * (16 + static_cast<int64_t>(text_count));
        if (*steps > limit)
            return cre2_result_too_costly;
        const re2::StringPiece whole(text, text_count);
        return RE2::PartialMatch(whole, expression) ? cre2_result_found : cre2_result_missing;
    } catch (const std::exception &failure) {
        tell(failure.what(), error, error_size);
        return cre2_result_refused;
    }
}
