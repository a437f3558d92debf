import JSON

extension Machine {
    /// Says what is strange about a source's flags, each thing once for as long as it lasts.
    mutating func note(_ name: SourceName, doubted doubts: [String], _ batch: inout Batch) {
        guard let index = wiring.source(name) else { return }
        for doubt in doubts where sources[index].doubts.insert(doubt).inserted {
            batch.notices.append(.sourceDoubted(name, doubt))
        }
        sources[index].doubts.formIntersection(doubts)
    }

    /// Says which keys an answer lacks that the one before held, where a default takes their place: a
    /// key that is gone without one is no order, and said by whoever wants it.
    func noteVanished(after answer: Answer, of index: Int, _ batch: inout Batch) {
        let source = sources[index]
        guard let before = source.answers.first?.answer, !before.isInherited else { return }
        for (key, _) in source.defaults where before.flags[key] != nil && answer.flags[key] == nil {
            batch.notices.append(.flagVanished(source.name, key: key))
        }
    }
}
