import Decision
import Files
import Pages

/// A supply of page templates: files of the system, or of a kept configuration. Each is read once.
package final class Templates {
    /// What was read, in that order.
    package private(set) var sources: [ConfigurationFiles.Content] = []
    private let read: (String) throws -> [UInt8]
    private var known: [String: Result<PageTemplate, any Error>] = [:]

    /// Templates by this function.
    package init(read: @escaping (String) throws -> [UInt8]) { self.read = read }

    /// The files of the system, or those that were kept, and no others.
    package convenience init(kept: [ConfigurationFiles.Content]? = nil) {
        self.init { path in
            guard let kept else { return try File.read(path, limit: PageTemplate.largest) }
            if let source = kept.first(where: { $0.path == path }) { return source.bytes }
            throw ConfigurationError(description: "'\(path)' was not kept with the configuration")
        }
    }

    /// The template in this file, and whether it is asked for the first time.
    fileprivate func template(at path: String) -> (
        template: Result<PageTemplate, any Error>, isNew: Bool
    ) {
        if let template = known[path] { return (template, false) }
        let template = Result { () throws -> PageTemplate in
            let bytes = try read(path)
            sources.append((path, bytes))
            return try PageTemplate(bytes)
        }
        known[path] = template
        return (template, true)
    }
}

extension Page {
    /// Reads `page` and `lang` of a service; nil if it configures neither, or after an error.
    init?(of service: Service, from reader: TableDecoder, _ templates: Templates) {
        let language = reader.value(ServiceKey.lang, .word, default: Page.standard.language)
        guard let member = reader.member(ServiceKey.page) else {
            guard language != Page.standard.language else { return nil }
            self.init(in: language)
            return
        }
        guard let path = reader.optional(member, .path(namedIn: member.node.origin.file)) else {
            return nil
        }
        let (template, isNew) = templates.template(at: path)
        do {
            let template = try template.get()
            reader.refuseUnknownValues(in: template, at: path, of: service)
            self.init(template, in: language)
        } catch let error as TemplateError {
            if isNew {
                reader.report.error(
                    error.problem,
                    at: Origin(file: path, line: error.line, column: error.column))
            }
            return nil
        } catch {
            reader.refuse(member, .bad("template", cause: "\(error)"), expecting: "a path")
            return nil
        }
    }
}

extension TableDecoder {
    /// Reports every value that a template shows and the service does not have.
    fileprivate func refuseUnknownValues(
        in template: PageTemplate, at path: String, of service: Service
    ) {
        let names = service.values.map(\.name.text)
        for use in template.values where !names.contains(where: use.name.hasSameBytes) {
            let known = names.map(\.quoted).joined(separator: ", ")
            let hint = names.isEmpty ? "it has no values" : "its values are \(known)"
            report.error(
                "unknown field 'values.\(use.name)' of service '\(service.name)'; \(hint)",
                at: Origin(file: path, line: use.line, column: use.column))
        }
    }
}
