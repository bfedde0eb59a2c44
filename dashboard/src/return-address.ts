const KEY = 'loam.return'
/** The lifetime of the stored address, equal to that of a sign-in link. */
const KEPT_MS = 15 * 60_000

/** Stores the address that was opened before signing in. The sign-in link may be opened in another tab. */
export function keepReturnAddress(address: string): void {
  if (isOwn(address)) localStorage.setItem(KEY, JSON.stringify({ address, at: Date.now() }))
}

/** Returns the stored address, or the start page, and forgets it. */
export function takeReturnAddress(): string {
  const address = readReturnAddress()
  localStorage.removeItem(KEY)
  return address
}

/** Returns the stored address, or the start page. It stays stored, for another attempt to sign in. */
export function readReturnAddress(): string {
  const stored = localStorage.getItem(KEY)
  try {
    const kept: { address?: unknown; at?: unknown } | null = JSON.parse(stored ?? 'null')
    const isFresh = typeof kept?.at === 'number' && Date.now() - kept.at < KEPT_MS
    return isFresh && typeof kept.address === 'string' && isOwn(kept.address) ? kept.address : '/'
  } catch {
    return '/'
  }
}

/** Returns true if the address belongs to this host. An address of another host is never followed, however it is written. */
function isOwn(address: string): boolean {
  if (!address.startsWith('/') || address.startsWith('/sign-in')) return false
  return URL.parse(address, location.origin)?.origin === location.origin
}
