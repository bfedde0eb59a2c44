/** What calls to a provider are made with: one secret, or the fields that the provider asks for. Never shown or logged. */
export type ProviderKey = {
  /** `platform`, or the id of a connection: limits are counted by it. */
  id: string
  /** As they are now: some change when a token is made. */
  fields: Readonly<Record<string, string>>
  /** A token that is made of the fields, kept until shortly before it expires; made anew when it is the one `refused`. */
  token<Refusal>(make: MakeToken<Refusal>, refused?: string): Promise<TokenAnswer<Refusal>>
}

export type MakeToken<Refusal> = (fields: ProviderKey['fields']) => Promise<MadeToken<Refusal>>
export type MadeToken<Refusal> =
  /** `fields` are those that changed with it, such as a new refresh token. */
  | { ok: true; token: string; expiresInSeconds: number; fields?: Record<string, string> }
  | { ok: false; refusal: Refusal }
export type TokenAnswer<Refusal> = { ok: true; token: string } | { ok: false; refusal: Refusal }

/** The keys that one row may use. */
export type ProviderKeys = {
  /** The installation's own key (`LOAM_PROVIDER_KEY_<NAME>`): calls are billed in credits (D66). */
  platform(provider: string): ProviderKey | null
  /** A connection of the organisation, by its name or id where one is given: calls cost no credits. */
  own(provider: string, name?: string): Promise<ProviderKey | null>
}

export type CallLimits = { perSecond?: number; perMinute?: number; concurrent?: number }

/** Limits on calls that all worker processes share, and a breaker for providers that fail. */
export type ProviderGate = {
  /**
   * Asks to make one call, mostly at once; may wait a moment. Whoever enters must leave, and say whether the provider worked. `slot` is what
   * a `busy` answer gave: the place in the queue that was waited for.
   */
  enter(bucket: string, limits: CallLimits, waiting: Waiting, slot?: number): GateAnswer | Promise<GateAnswer>
}

/** Who may have to wait. The signal is looked at only then. */
type Waiting = { readonly signal: AbortSignal }

/** Organisations enter by gates of their own to limits that they share, and take turns there. */
export type ProviderGates = { of(orgId: string): ProviderGate }

export type GateAnswer =
  | { kind: 'entered'; leave(result: 'worked' | 'broken'): void }
  /** The limit is used up: park the row, and ask again then with this slot. */
  | { kind: 'busy'; afterMs: number; slot?: number }
  /** It failed time after time, and is left alone until then. */
  | { kind: 'broken'; afterMs: number }

/** A token is not used in its last minute: it must live as long as the call that it is made for. */
const SPARE_MS = 60_000

export type KeptToken = { token: string; expiresAt: number }

export function isFresh(kept: KeptToken | undefined, refused: string | undefined): kept is KeptToken {
  return kept !== undefined && kept.token !== refused && kept.expiresAt - SPARE_MS > Date.now()
}

/** A key whose tokens are kept by this process alone. */
export function createKey(id: string, fields: Readonly<Record<string, string>>): ProviderKey {
  let current = fields
  let kept: KeptToken | undefined
  let making: Promise<unknown> = Promise.resolve()
  return {
    id,
    get fields() {
      return current
    },
    async token(make, refused) {
      // One after the other: those who waited find the token that the first made.
      const turn = making.then(async () => {
        if (isFresh(kept, refused)) return { ok: true as const, token: kept.token }
        const made = await make(current)
        if (!made.ok) return made
        current = { ...current, ...made.fields }
        kept = { token: made.token, expiresAt: Date.now() + made.expiresInSeconds * 1000 }
        return { ok: true as const, token: made.token }
      })
      making = turn.catch(() => undefined)
      return turn
    },
  }
}
