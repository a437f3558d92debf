import CivilTime

extension Switch {
    /// What an answer says to this switch.
    func read(_ answer: NumberedAnswer, in zone: Zone) -> Result<Reading, InvalidFlag> {
        do {
            return .success(try format.read(answer.flags, in: zone))
        } catch {
            return .failure(error)
        }
    }
}

extension SwitchState {
    /// Rests on the newest of these answers that it can read, if there is one. The newest of all was
    /// last confirmed as told; an older one until the next one came.
    mutating func adopt(
        _ answers: some Sequence<NumberedAnswer>, confirmed: Confirmation, by plan: Switch,
        in zone: Zone
    ) {
        var isNewest = true
        for answer in answers {
            switch plan.read(answer, in: zone) {
            case .success(let reading):
                self.reading = reading
                self.answer = answer.number
                if !answer.answer.isInherited { accept(reading) }
                let older = answer.answer.confirmedAt ?? answer.answer.fetchedAt
                confirmation = isNewest ? confirmed : .earlier(older)
                if case .now = confirmation { isAnswered = true }
                return
            case .failure(let problem):
                self.problem = self.problem ?? problem
            }
            isNewest = false
        }
    }

    /// The newest answer it could read: the one in force, or one that waits for its time.
    var newest: Int? { staged ?? answer }

    /// The source has said or confirmed what it rests on.
    mutating func confirm(_ confirmation: Confirmation) {
        self.confirmation = confirmation
        isAnswered = true
        problem = nil
        unconfirmed = nil
    }

    /// Takes note of the edition of flags that count from now on, or from the next start.
    mutating func accept(_ reading: Reading) {
        highestVersion = reading.version ?? highestVersion
    }

    /// What it rests on is of the address that is asked now, and so is its edition.
    mutating func acceptAsOwn(_ answer: NumberedAnswer) {
        guard self.answer == answer.number, let reading else { return }
        accept(reading)
    }

    /// Why a reading is older than one that was accepted. Flags that count their editions once do so
    /// always: what is not counted cannot be told from what is old.
    func regression(in next: Reading) -> InvalidFlag? {
        guard let highest = highestVersion else { return nil }
        guard let version = next.version else { return .missing(key: "version") }
        guard version < highest else { return nil }
        return .wrongType(
            key: "version", expected: "\(highest) or more, as it was before", found: "\(version)")
    }
}
