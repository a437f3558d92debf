extension Reason.Slug {
    /// What a reason means, and what to do about it: for `killswitchctl explain` and killswitchd(8).
    package var meaning: String {
        switch self {
        case .starting:
            """
            No flags have come since the start. The daemon waits for the first answer, at most \
            for first_timeout. Until then an earlier decision of this boot stays in force. Wait.
            """
        case .awaitingFirstAnswer:
            """
            After a reboot the stored flags would open the gate. The daemon fetches from the \
            source first. Wait.
            """
        case .flags: "Normal: the current flags decide."
        case .storedFlags:
            """
            The stored flags decide. The source has not answered since the start, or since its \
            address changed. If this lasts, look in the log for the problem of the source.
            """
        case .invalidAnswer:
            """
            The last answer is invalid: a key is missing, or a value is wrong. The last good \
            flags stay in force. Correct the flags. reason_text names the key.
            """
        case .unconfirmed:
            """
            The last answers would change the gate, but they are fewer than confirm_close or \
            confirm_open requires. Wait.
            """
        case .windowAhead:
            """
            Normal: the flags plan a maintenance. reason_text names its beginning and end.
            """
        case .window: "A planned maintenance is in progress. It ends by itself on time."
        case .versionTooOld:
            """
            The flags require a newer version than the installed one. Update the service.
            """
        case .endPassed:
            """
            The announced end has passed. To open the service again, publish flags with another \
            end, or with "no".
            """
        case .endUnreadable:
            """
            The text of the announced end is not a date. The service counts down, and the days \
            left are unknown. Correct the date.
            """
        case .zoneUnknown:
            """
            The flags announce an end as a local time, and nothing is known of the time zone of \
            the service, see time_zone in killswitchd.toml(5). An end that had come stays; \
            another one comes once it has come in every time zone. The days left are unknown. \
            Install the package that 'killswitchctl status' names, then type 'killswitchctl \
            reload'.
            """
        case .staleHold:
            """
            The flags are older than max_stale. They still decide, because when_stale is hold. \
            Find out why the source is silent.
            """
        case .staleOpen:
            """
            The flags are older than max_stale, and when_stale opens the gate. Find out why the \
            source is silent.
            """
        case .staleClosed:
            """
            The flags are older than max_stale, and when_stale closes the gate. Find out why the \
            source is silent. When it answers, its flags decide again.
            """
        case .staleEnded:
            """
            The flags are older than max_stale, and when_stale ends the service: its flag server \
            was to go away with it. When the source answers, its flags decide again.
            """
        case .expiredHold:
            """
            The flags are past the expiry that they contain. They still decide, because \
            when_stale is hold. Publish new flags.
            """
        case .expiredOpen:
            """
            The flags are past the expiry that they contain, and when_stale opens the gate.
            """
        case .expiredClosed:
            """
            The flags are past the expiry that they contain, and when_stale closes the gate.
            """
        case .expiredEnded:
            """
            The flags are past the expiry that they contain, and when_stale ends the service.
            """
        case .unknownOpen:
            """
            The source never gave any flags, and when_unknown opens the gate. The log has the \
            cause.
            """
        case .unknownClosed:
            """
            The source never gave any flags, and when_unknown closes the gate. The log has the \
            cause.
            """
        case .unreadableOpen:
            """
            The source has not answered, and its stored flags cannot be read: the gate stays \
            open, as it was in this boot.
            """
        case .unreadableClosed:
            """
            The source has not answered, and its stored flags cannot be read: the gate stays \
            closed, as it was in this boot or because the host has rebooted.
            """
        case .clockNotBelieved:
            """
            Something contradicts the clock of this host, or nothing has confirmed it since the \
            start: the announced end or window is held, see killswitchd(8), Clock. Have the \
            clock synchronised: 'timedatectl set-ntp true'.
            """
        case .rollout:
            """
            Normal: the flags close some hosts before others, and have not reached this one. \
            reason_text names the share that they have reached, the slot of this host, and when \
            they reach it.
            """
        case .minClosed:
            """
            The flags open the gate again, but it closed less than min_closed ago. reason_text \
            says when it opens. Wait.
            """
        case .reopening:
            """
            The flags open the gate again, and hosts do so one after the other, by open_spread. \
            reason_text names the turn of this host. 'killswitchctl open' opens it at once.
            """
        case .closingHeld:
            """
            The flags close more services within close_within than close_at_once allows, so this \
            one does not close. An end or a window counts too if it was known for less than \
            notice before it came true. If the closings are intended, let them happen with \
            'killswitchctl confirm'. If not, correct the flags.
            """
        case .overridden:
            """
            An operator has ordered this state. override in state.json has the author, the \
            author's reason and the end. 'killswitchctl release SERVICE' ends the order.
            """
        case .awaitingGuard:
            """
            A step of a rollout has come for this host, or its turn to open the gate, and the \
            guard of the service does not let it: reason_text has its answer. The guard is asked \
            again every 30 s. If the step is safe nevertheless, let it come with 'killswitchctl \
            confirm'. If not, take the order back. See GUARDS in \
            killswitchd.toml(5).
            """
        case .awaitingSignature:
            """
            Newer flags would move the gate, now or by an end or a window in them or when they \
            become stale, and fewer people have signed them than signatures_to_close or \
            signatures_to_open requires. Or their version is far higher than the last one, so \
            that few are left for the flags after them. The flags in force hold. reason_text \
            names who has signed. Have others sign the same document.
            """
        case .unprovedHold:
            """
            The signatures under the flags do not count any more: a signer was removed, the \
            audience is another, or the source has signers now and the flags have no signature. \
            They still decide, because when_stale is hold. Publish newer flags by a signer who \
            is listed.
            """
        case .unprovedOpen:
            """
            The signatures under the flags do not count any more, and when_stale opens the gate.
            """
        case .unprovedClosed:
            """
            The signatures under the flags do not count any more, and when_stale closes the \
            gate.
            """
        case .unprovedEnded:
            """
            The signatures under the flags do not count any more, and when_stale ends the \
            service.
            """
        case .unsigned:
            """
            The newest document of a source with signers has no signature. Sign it, by \
            'killswitchctl sign'.
            """
        case .trailingBytes:
            """
            Something else than signatures follows the document. Publish the document and its \
            signatures alone.
            """
        case .tooManySignatures: "The document has more than 16 signatures."
        case .malformedSignature:
            """
            A signature cannot be read: a part of it is missing, or was changed. reason_text has \
            its number.
            """
        case .otherNamespace:
            """
            The signature was made for another purpose, such as a commit of git. Sign with \
            'ssh-keygen -Y sign -n killswitchd'.
            """
        case .hashNotAccepted: "The signature is by another hash than SHA-256 or SHA-512."
        case .keyTypeNotAccepted:
            "The key is not Ed25519 or ECDSA on P-256, in a security key or not."
        case .signerNotListed:
            """
            No line of the file signers has the key. reason_text has its fingerprint.
            """
        case .signerForOtherNamespaces:
            """
            The option namespaces of the signer's line does not allow killswitchd.
            """
        case .signerNotYetValid: "The time valid-after of the signer's line has not come."
        case .signerNoLongerValid:
            """
            The time valid-before of the signer's line has passed. Sign with a newer key.
            """
        case .changedBytes:
            """
            The document is not the one that the signer signed: it was changed, or the signature \
            belongs to another one.
            """
        case .securityKeyUntouched: "A security key signed, and nobody touched it."
        case .signedMemberUnreadable:
            """
            The signed document has no version, expires or audience, or it cannot be read.
            """
        case .otherAudience:
            """
            The document is for other hosts: its audience is not that of the source.
            """
        case .rollback:
            """
            The version of the document is lower than one that was accepted before: somebody \
            shows an old one. Publish a higher one.
            """
        case .sameVersionOtherBytes:
            """
            The version was accepted before with another content. Give each document a version \
            of its own.
            """
        case .expiredAtFirstSight: "The document was past expires when this host saw it first."
        case .documentTooLarge: "The document is larger than max_body. Nothing of it was read."
        case .signersUnreadable:
            """
            The file signers cannot be read, or has an error. reason_text has the line. No \
            document is accepted until it is corrected.
            """
        case .versionUnreadable:
            """
            The stored highest version cannot be read, so that no document can be told from an \
            old one. It is read again at each fetch. If the file is broken, use 'killswitchctl \
            forget SOURCE --accepted-version --reason TEXT'.
            """
        case .versionNotStored:
            """
            The version of the document cannot be stored, and the document counts only \
            afterwards. Free space in the state directory. The next fetch tries again.
            """
        }
    }

    /// Whether it says why a signed document is refused.
    package var isRefusal: Bool { finding == .invalidAnswer && self != .invalidAnswer }
}
