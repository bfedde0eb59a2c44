import { findText } from '../../../lib/search.ts'

/** The rules of a robots.txt for one robot, and its sitemaps. */
export type RobotsRules = { allows: (url: string) => boolean; sitemaps: string[]; size: number }

type Rule = { isAllowed: boolean; isWhole: boolean; pieces: string[]; length: number }
type Group = { rules: Rule[]; isNamed: boolean }

// RFC 9309 requires at least 500 KiB.
const MAX_TEXT = 500 * 1024
const MAX_RULES = 5_000
const MAX_SITEMAPS = 100
/** The length of the part of a page's path that is compared. */
const MAX_PATH = 4_000

/** Parses a robots.txt (RFC 9309). Only the groups for this robot and for all robots are kept. */
export function parseRobots(text: string, robot: string): RobotsRules {
  const own: Group = { rules: [], isNamed: false }
  const others: Group = { rules: [], isNamed: false }
  const sitemaps: string[] = []
  let current = new Set<Group>()
  let isNaming = false
  for (const { field, value } of fieldsOf(text.slice(0, MAX_TEXT))) {
    if (field === 'user-agent') {
      if (!isNaming) current = new Set()
      isNaming = true
      const group = value === '*' ? others : isRobot(value, robot) ? own : null
      if (group !== null) current.add(group)
      if (group !== null) group.isNamed = true
    } else if (field === 'allow' || field === 'disallow') {
      isNaming = false
      if (value === '' || current.size === 0) continue
      const rule = parseRule(value, field === 'allow')
      for (const { rules } of current) if (rules.length < MAX_RULES) rules.push(rule)
    } else if (field === 'sitemap' && sitemaps.length < MAX_SITEMAPS) sitemaps.push(value)
  }
  const { rules } = own.isNamed ? own : others
  // The longest rule decides. Of two rules with the same length, the one that allows decides.
  rules.sort((a, b) => b.length - a.length || Number(b.isAllowed) - Number(a.isAllowed))
  return {
    allows: (url) => {
      const path = pathOf(url)
      return rules.find((rule) => matches(rule, path))?.isAllowed ?? true
    },
    sitemaps,
    size: [...rules, ...sitemaps].reduce((sum, { length }) => sum + length + 100, 0),
  }
}

function* fieldsOf(text: string): Generator<{ field: string; value: string }> {
  for (const line of text.split(/[\r\n]+/)) {
    const colon = line.indexOf(':')
    if (colon < 0) continue
    const hash = line.indexOf('#')
    if (hash >= 0 && hash < colon) continue
    const value = line.slice(colon + 1, hash < 0 ? undefined : hash).trim()
    yield { field: line.slice(0, colon).trim().toLowerCase(), value }
  }
}

/** Returns true if a user agent line names the robot, with or without its version. */
function isRobot(agent: string, robot: string): boolean {
  return (/^[\w-]+/.exec(agent)?.[0] ?? '').toLowerCase() === robot.toLowerCase()
}

function parseRule(value: string, isAllowed: boolean): Rule {
  const isWhole = value.endsWith('$')
  const [first = '', ...more] = encode(isWhole ? value.slice(0, -1) : value).split('*')
  // Consecutive stars count as one.
  const pieces = [first, ...more.filter((piece, n) => piece !== '' || n === more.length - 1)]
  return { isAllowed, isWhole, pieces, length: Buffer.byteLength(value) }
}

/** Returns the path and query of an address in the form of rules. `*` and `$` in an address are literal characters. */
function pathOf(address: string): string {
  const { pathname, search } = new URL(address)
  return encode((pathname + search).slice(0, MAX_PATH).replaceAll('*', '%2A'))
}

/** Percent-encodes only the characters that need it, so that two spellings of an address become equal. */
function encode(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\x21-\x7e]+/g, (run) => encodeURIComponent(run))
    .replaceAll('$', '%24')
    .replace(/%[\da-f]{2}/gi, (code) => {
      const sign = String.fromCharCode(Number.parseInt(code.slice(1), 16))
      return /[\w.~-]/.test(sign) ? sign : code.toUpperCase()
    })
}

/** Returns true if the pieces of a rule occur in a path one after another, each as early as possible. */
function matches({ pieces, isWhole }: Rule, path: string): boolean {
  const first = pieces[0] ?? ''
  if (!path.startsWith(first)) return false
  if (pieces.length === 1) return !isWhole || path.length === first.length
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    at = endOf(piece, path, at)
    if (at < 0) return false
  }
  const last = pieces.at(-1) ?? ''
  if (!isWhole) return endOf(last, path, at) >= 0
  return path.length - last.length >= at && path.endsWith(last)
}

/** Returns the end of a piece in a path, or -1. */
function endOf(piece: string, path: string, from: number): number {
  const at = findText(path, piece, from)
  return at < 0 ? -1 : at + piece.length
}
