// Header-only, so that the program needs no libtomlplusplus.so.
#define TOML_HEADER_ONLY 1
// With exceptions an error leaves the parser at once. Without, each of its functions has to notice.
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_WINDOWS_COMPAT 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#define TOML_MAX_NESTED_VALUES 32

// A failed assertion of the parser is an error of the document, not the end of the daemon.
#undef NDEBUG
#include <stdexcept>
#define TOML_ASSERT(expression) \
    ((expression) ? void() : throw std::logic_error("toml++ expected " #expression))

// Of Debian 12 (3.3) and of Debian 13 (3.4). The headers in impl/ have other names in each.
#include <toml++/toml.h>

#include "inspection.h"

#include <new>
#include <vector>

struct ctoml_document {
    toml::table root;
    std::vector<ctoml_node> nodes;
    std::string error_text;
    ctoml_error error = {};
    bool failed = false;

    void fail(std::string_view text, ctoml_position position) {
        nodes.clear();
        error_text = text;
        error = {position, {error_text.data(), error_text.size()}};
        failed = true;
    }
};

namespace {

ctoml_position position(const toml::source_position &source) {
    return {source.line, source.column};
}

ctoml_text text(std::string_view view) { return {view.data(), view.size()}; }

void append(const toml::node &value, const toml::key *key, size_t level,
            const inspection &inspected, std::vector<ctoml_node> &nodes) {
    ctoml_node node = {};
    node.position = inspected.original(position(value.source().begin));
    if (key) {
        node.key = text(key->str());
        node.key_position = inspected.original(position(key->source().begin));
    }
    if (level > most_levels)
        throw refusal{"more than 32 levels of tables and arrays", node.position};

    switch (value.type()) {
    case toml::node_type::none: throw std::logic_error("toml++ made a node without a type");
    case toml::node_type::table:
        node.kind = ctoml_kind_table;
        node.children = value.as_table()->size();
        break;
    case toml::node_type::array:
        node.kind = ctoml_kind_array;
        node.children = value.as_array()->size();
        break;
    case toml::node_type::string:
        node.kind = ctoml_kind_string;
        node.string = text(value.as_string()->get());
        break;
    case toml::node_type::integer:
        node.kind = ctoml_kind_integer;
        node.integer = value.as_integer()->get();
        break;
    case toml::node_type::floating_point:
        node.kind = ctoml_kind_floating;
        node.floating = value.as_floating_point()->get();
        break;
    case toml::node_type::boolean:
        node.kind = ctoml_kind_boolean;
        node.boolean = value.as_boolean()->get();
        break;
    case toml::node_type::date: node.kind = ctoml_kind_date; break;
    case toml::node_type::time: node.kind = ctoml_kind_time; break;
    case toml::node_type::date_time: node.kind = ctoml_kind_datetime; break;
    }
    nodes.push_back(node);

    if (const auto *table = value.as_table())
        for (auto &&[name, member] : *table)
            append(member, &name, level + 1, inspected, nodes);
    if (const auto *array = value.as_array())
        for (auto &&element : *array)
            append(element, nullptr, level + 1, inspected, nodes);
}

/// The message of the parser, with the character that the document has where U+FFFD stands for it.
std::string message(const toml::parse_error &error, const inspection &inspected) {
    std::string text(error.description());
    const size_t place = text.rfind(inspection::stand_in);
    if (!inspected.replaced.empty() && place != text.npos)
        text.replace(place, inspection::stand_in.size(), inspected.replaced);
    return text;
}

void parse(std::string_view bytes, ctoml_document &document) {
    inspection inspected(bytes);
    try {
        inspected.run();
        document.root = toml::parse(std::string_view(inspected.prepared));
        if (!inspected.replaced.empty())
            throw std::logic_error("toml++ accepted a character that is not ASCII outside of quotes");
        append(document.root, nullptr, 0, inspected, document.nodes);
    } catch (const refusal &refused) {
        document.fail(refused.text, refused.position);
    } catch (const toml::parse_error &error) {
        const auto place = inspected.original(position(error.source().begin));
        document.fail(message(error, inspected), place);
    } catch (const std::logic_error &error) {
        document.fail(error.what(), {1, 1});
    }
}

} // namespace

ctoml_document *ctoml_parse(const uint8_t *bytes, size_t count) {
    ctoml_document *document = nullptr;
    try {
        document = new ctoml_document;
        parse({reinterpret_cast<const char *>(bytes), count}, *document);
        return document;
    } catch (...) {
        delete document;
        return nullptr;
    }
}

void ctoml_free(ctoml_document *document) { delete document; }

const ctoml_error *ctoml_document_error(const ctoml_document *document) {
    return document->failed ? &document->error : nullptr;
}

ctoml_node ctoml_document_node(const ctoml_document *document, size_t index) {
    return index < document->nodes.size() ? document->nodes[index] : ctoml_node{};
}
