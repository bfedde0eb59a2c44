/** Tells one that a call is not wanted any more: an AbortSignal, or what costs less to make for every call. */
export type CallOff = {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: CallOffListener): void
  removeEventListener(type: 'abort', listener: CallOffListener): void
}
export type CallOffListener = { handleEvent(): void }

export type EgressRequest = {
  url: string
  method?: string
  /** Those that are frozen are checked once, however often they are sent. */
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** For everything together: resolving, redirects, the body. */
  timeoutMs?: number
  /** For the body on the wire and for the body decoded. */
  maxBytes?: number
  maxRedirects?: number
  /** `return` gives the answer that redirects as it is, to who must look at each hop. Default `follow`. */
  redirects?: 'follow' | 'return'
  signal?: CallOff
  /**
   * Only these bytes of the body. A server that sends all the same is cut off behind them, or behind `sizeOfWhole`, where
   * more of it is of use.
   */
  part?: { start: number; size: number; sizeOfWhole?: number }
}
