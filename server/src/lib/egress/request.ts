export type EgressRequest = {
  url: string
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** For everything together: resolving, redirects, the body. */
  timeoutMs?: number
  /** For the body on the wire and for the body decoded. */
  maxBytes?: number
  maxRedirects?: number
  /** `return` gives the answer that redirects as it is, to who must look at each hop. Default `follow`. */
  redirects?: 'follow' | 'return'
  signal?: AbortSignal
  /**
   * Only these bytes of the body. A server that sends all the same is cut off behind them, or behind `sizeOfWhole`, where
   * more of it is of use.
   */
  part?: { start: number; size: number; sizeOfWhole?: number }
}
