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
}
