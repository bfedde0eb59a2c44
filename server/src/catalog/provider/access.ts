/**
 * The credentials for calls to a provider: one secret, or the fields that the provider asks for. Never shown or logged.
 */
export type ProviderKey = {
  /** `platform`, or the id of a connection. Limits are counted by it. */
  id: string
  /** The current fields. Some change when a token is made. */
  fields: Readonly<Record<string, string>>
  /**
   * Returns a token made from the fields. It is kept until shortly before it expires, and made again if it is the
   * `refused` one.
   */
  token<Refusal>(make: MakeToken<Refusal>, refused?: string): Promise<TokenAnswer<Refusal>>
}

export type MakeToken<Refusal> = (fields: ProviderKey['fields']) => Promise<MadeToken<Refusal>>
export type MadeToken<Refusal> =
  /** `fields` are those that changed with the token, such as a new refresh token. */
  | { ok: true; token: string; expiresInSeconds: number; fields?: Record<string, string> }
  | { ok: false; refusal: Refusal }
export type TokenAnswer<Refusal> = { ok: true; token: string } | { ok: false; refusal: Refusal }

/** The keys that one row may use. */
export type ProviderKeys = {
  /** Returns the installation's own key (`LOAM_PROVIDER_KEY_<NAME>`). Its calls are charged in credits (D66). */
  platform(provider: string): ProviderKey | null
  /** Returns a connection of the organisation, found by name or id if one is given. Its calls cost no credits. */
  own(provider: string, name?: string): Promise<ProviderKey | null>
}

export type CallLimits = { perSecond?: number; perMinute?: number; concurrent?: number }

/** Limits on calls that all worker processes share, and a breaker for providers that fail. */
export type ProviderGate = {
  /**
   * Asks to make one call, mostly at once; may wait a moment. Every caller that enters must leave and report whether
   * the provider worked. `slot` is the place in the queue that a `busy` answer gave.
   */
  enter(bucket: string, limits: CallLimits, waiting: Waiting, slot?: number): Promise<GateAnswer>
}

/** A caller that may have to wait. Its signal is read only then. */
type Waiting = { readonly signal: AbortSignal }

/**
 * The gates of all organisations. Each organisation has its own gate to the shared limits, and they take turns there.
 */
export type ProviderGates = { of(orgId: string): ProviderGate }

export type GateAnswer =
  | { kind: 'entered'; leave(result: 'worked' | 'broken'): void }
  /** The limit is reached: park the row, and then ask again with this slot. */
  | { kind: 'busy'; afterMs: number; slot?: number }
  /** The provider failed repeatedly and is not called until then. */
  | { kind: 'broken'; afterMs: number }

/** The last part of a token's life, in which it is not used: a token must outlive the call that it is made for. */
const SPARE_MS = 60_000

export type KeptToken = { token: string; expiresAt: number }

export function isFresh(kept: KeptToken | undefined, refused: string | undefined): kept is KeptToken {
  return kept !== undefined && kept.token !== refused && kept.expiresAt - SPARE_MS > Date.now()
}

/** Creates a key whose tokens only this process keeps. */
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
      // One after the other, so that the callers that waited find the token that the first made.
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
