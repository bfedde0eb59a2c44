/** What calls to a provider are made with: one secret, or the fields that the provider asks for. Never shown or logged. */
export type ProviderKey = {
  /** `platform`, or the id of a connection: limits are counted by it. */
  id: string
  fields: Readonly<Record<string, string>>
}

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
   * Asks to make one call; may wait a moment. Whoever enters must leave, and say whether the provider worked. `slot` is what
   * a `busy` answer gave: the place in the queue that was waited for.
   */
  enter(
    bucket: string,
    limits: CallLimits,
    options: { signal: AbortSignal; slot?: number | undefined },
  ): Promise<GateAnswer>
}

export type GateAnswer =
  | { kind: 'entered'; leave(result: 'worked' | 'broken'): void }
  /** The limit is used up: put the row down, and ask again then with this slot. */
  | { kind: 'busy'; afterMs: number; slot?: number }
  /** It failed time after time, and is left alone until then. */
  | { kind: 'broken'; afterMs: number }
