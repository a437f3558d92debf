import JSON

/// The stored form of the last accepted configuration: its files in the order of merging, whole.
enum StoredConfiguration {
    static let schema: Int64 = 1

    static func text(of files: [StateDirectory.ConfigurationFile]) -> String {
        let value: JSON.Value = .object([
            "schema": .number(Number(schema)),
            "files": .array(
                files.map { file in
                    .object([
                        "path": .string(file.path),
                        "text": .string(String(decoding: file.bytes, as: UTF8.self)),
                    ])
                }),
        ])
        return value.serialized(.pretty) + "\n"
    }

    static func files(in bytes: [UInt8]) -> Restored<[StateDirectory.ConfigurationFile]> {
        do {
            let stored = try JSON.Value.parse(bytes).asObject()
            guard stored["schema"]?.number?.int64 == schema else {
                throw StoredFormError.unknownSchema
            }
            let files = try stored.array("files").map { value in
                let object = try value.asObject()
                return StateDirectory.ConfigurationFile(
                    path: try object.string("path"), bytes: Array(try object.string("text").utf8))
            }
            return files.isEmpty ? .nothing : .value(files)
        } catch {
            return .unreadable("\(error)")
        }
    }
}
