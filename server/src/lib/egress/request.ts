/**
 * A signal that a call is no longer wanted: an AbortSignal, or an object that costs less to create for every
 * call.
 */
export type CallOff = {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: CallOffListener): void
  removeEventListener(type: 'abort', listener: CallOffListener): void
}
export type CallOffListener = { handleEvent(): void }

export type EgressRequest = {
  url: string
  method?: string
  /** The headers. A frozen object is checked only once, however often it is sent. */
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** The time for the whole call: name resolution, redirects and body. */
  timeoutMs?: number
  /** The size limit of the body, both as it is transferred and after decoding. */
  maxBytes?: number
  maxRedirects?: number
  /**
   * The handling of redirects. `return` returns the redirect itself, for callers that must check each hop.
   * The default is `follow`.
   */
  redirects?: 'follow' | 'return'
  signal?: CallOff
  /**
   * Asks for only these bytes of the body. If the server sends the whole body all the same, it is cut off
   * after these bytes, or after `sizeOfWhole` where the caller can use more of it.
   */
  part?: { start: number; size: number; sizeOfWhole?: number }
}
