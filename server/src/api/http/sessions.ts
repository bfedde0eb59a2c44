import type { FastifyReply, FastifyRequest } from 'fastify'
import { CSRF_HEADER, SESSION_COOKIE } from '#contract/sessions.ts'
import { AppError } from '../../lib/errors.ts'
import { isWellFormedKey } from '../../lib/security/keys.ts'
import { isCsrfTokenOf, isSessionToken } from '../../lib/security/session-tokens.ts'

export const INTERNAL_PREFIX = '/internal'
const MOUNTED = '/internal/api/v1'
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])
const COOKIE_SECONDS = 30 * 86_400

/** Maps `/internal/api/v1/...` to the public handlers. The requested address stays in `originalUrl`. */
export function mountPublicApi(url: string | undefined = '/'): string {
  const rest = url.startsWith(MOUNTED) ? url.slice(MOUNTED.length) : undefined
  return rest !== undefined && /^($|[/?])/.test(rest) ? `/api/v1${rest}` : url
}

/** A request, possibly before its route is known. */
export type Addressed = Pick<FastifyRequest, 'originalUrl'> & Partial<Pick<FastifyRequest, 'routeOptions'>>

/**
 * Returns true for paths that only sessions may use: keys are ignored there, as cookies are everywhere else.
 * The route counts as well, because `/%69nternal/keys` and `http://host/internal/keys` lead to the same one.
 */
export function isInternal({ originalUrl, routeOptions }: Addressed): boolean {
  const below = `${INTERNAL_PREFIX}/`
  return originalUrl.startsWith(below) || routeOptions?.url?.startsWith(below) === true
}

export function readSessionToken(request: Pick<FastifyRequest, 'headers'>): string | undefined {
  const token = readCookie(request, SESSION_COOKIE)
  return token !== undefined && isSessionToken(token) ? token : undefined
}

export function setSessionCookie(reply: FastifyReply, token: string, isSecure: boolean): void {
  writeCookie(reply, { name: SESSION_COOKIE, value: token, path: '/', seconds: COOKIE_SECONDS, isSecure })
}

export function clearSessionCookie(reply: FastifyReply, isSecure: boolean): void {
  writeCookie(reply, { name: SESSION_COOKIE, value: '', path: '/', seconds: 0, isSecure })
}

export function readCookie({ headers }: Pick<FastifyRequest, 'headers'>, name: string): string | undefined {
  const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim().split('='))
  return cookies.find(([known]) => known === name)?.[1]
}

type Cookie = { name: string; value: string; path: string; seconds: number; isSecure: boolean }

/**
 * Sets a cookie that no script can read, and that is not sent with requests of other sites except when the
 * user follows a link.
 */
export function writeCookie(reply: FastifyReply, { name, value, path, seconds, isSecure }: Cookie): void {
  const attributes = [`Path=${path}`, `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Lax']
  if (isSecure) attributes.push('Secure')
  void reply.header('set-cookie', [`${name}=${value}`, ...attributes].join('; '))
}

/** Returns true if the page was loaded over https. Only then is the cookie limited to https. */
export function isSecure({ headers }: FastifyRequest, publicUrl: string): boolean {
  return publicUrl.startsWith('https:') || headers.origin?.startsWith('https:') === true
}

/**
 * Throws unless an unsafe request comes from a page of this server. Scripts elsewhere can neither forge the
 * origin nor read the token.
 */
export function requireOwnPage(request: FastifyRequest, publicUrl: string, token: string | undefined): void {
  if (SAFE.has(request.method)) return
  if (!isOwnOrigin(request, publicUrl)) {
    throw new AppError(
      'CSRF',
      'Only a page of this server may send this request: the Origin of this server is missing',
    )
  }
  const given = request.headers[CSRF_HEADER]
  if (token === undefined || (typeof given === 'string' && isCsrfTokenOf(token, given))) return
  throw new AppError('CSRF', 'The header X-Loam-CSRF must be the csrf_token of this session. Reload the page')
}

/**
 * Returns true if the origin is the public address, or the address this request was sent to. A browser forges
 * neither.
 */
function isOwnOrigin({ headers: { origin, host } }: FastifyRequest, publicUrl: string): boolean {
  const parsed = origin === undefined ? null : URL.parse(origin)
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return false
  return (
    parsed.origin === URL.parse(publicUrl)?.origin ||
    parsed.host === URL.parse(`${parsed.protocol}//${host ?? ''}`)?.host
  )
}

/** Returns the browser and the system in short, for the list of sessions. */
export function describeBrowser({ headers }: Pick<FastifyRequest, 'headers'>): string {
  const agent = headers['user-agent'] ?? ''
  const name = BROWSERS.find(([, mark]) => mark.test(agent))?.[0] ?? 'Unknown browser'
  const system = SYSTEMS.find(([, mark]) => mark.test(agent))?.[0]
  return system === undefined ? name : `${name} on ${system}`
}

/** The browsers in this order, because the user agent of each also contains the names of those after it. */
const BROWSERS: [string, RegExp][] = [
  ['Edge', /\bEdg/],
  ['Opera', /\bOPR\//],
  ['Firefox', /\bFirefox\//],
  ['Chrome', /Chrome\//],
  ['Safari', /\bSafari\//],
  ['curl', /^curl\//],
]
const SYSTEMS: [string, RegExp][] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
]

export type Carrying = Addressed & Pick<FastifyRequest, 'headers'>

/** Returns the key, or on an internal path the session token, if it is well-formed. */
export function readCredential(request: Carrying): string | undefined {
  if (isInternal(request)) return readSessionToken(request)
  const key = bearerKey(request)
  return key !== undefined && isWellFormedKey(key) ? key : undefined
}

export function bearerKey({ headers }: Pick<Carrying, 'headers'>): string | undefined {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
}
