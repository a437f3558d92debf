#include "cre2.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string_view>

namespace {

void tell(std::string_view cause, char *error, size_t error_size) {
    if (error_size == 0)
        return;
    const size_t count = std::min(cause.size(), error_size - 1);
    std::memcpy(error, cause.data(), count);
    error[count] = 0;
}

} // namespace

cre2_result cre2_search(const char *pattern, size_t pattern_count, const char *text,
                        size_t text_count, int64_t memory, char *error, size_t error_size) {
    try {
        RE2::Options options;
        options.set_max_mem(memory);
        options.set_log_errors(false);
        const RE2 expression({pattern, pattern_count}, options);
        if (!expression.ok()) {
            tell(expression.error(), error, error_size);
            return cre2_result_refused;
        }
        const re2::StringPiece whole(text, text_count);
        return RE2::PartialMatch(whole, expression) ? cre2_result_found : cre2_result_missing;
    } catch (const std::exception &failure) {
        tell(failure.what(), error, error_size);
        return cre2_result_refused;
    }
}
