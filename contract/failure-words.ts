import type { CellStatus } from './rows.ts'

/** A failure for people: what went wrong, and what to do about it. */
export type FailureWords = { words: string; hint: string }

type Rule = {
  pattern: RegExp
  /** Returns the words. The groups of the match are values of the error. */
  words: (groups: readonly string[]) => string
  hint: string
}

const rule = (pattern: RegExp, words: string | Rule['words'], hint: string): Rule => ({
  pattern,
  words: typeof words === 'string' ? () => words : words,
  hint,
})

/** Returns the id of a field as words: `company_domain` is `Company domain`. */
function labelOf(id = ''): string {
  const words = id.replaceAll('_', ' ').trim()
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

const AGAIN = 'Run these cells again later.'
const KEYS = 'Check the key or the connection under Settings, Connections, then run these cells again.'
const ADDRESS = 'Correct the address in the row or under Configure, then run these cells again.'
const VALUE =
  'Correct the value in the row, or choose another column under Configure, then run these cells again.'

const MONEY: readonly Rule[] = [
  rule(
    /left of max_credits of a (day|cycle)/,
    ([, time]) => `The credit limit of the ${time} was reached`,
    'Raise the limit for later rows, then run these cells again.',
  ),
  rule(
    /left of max_credits_per_day/,
    "The webhook's credit limit of the day was reached",
    'Raise the limit of the webhook, then resume the run.',
  ),
  rule(
    /left of max_credits/,
    'The credit limit of the run was reached',
    'Resume the run with a higher limit. Results that are there are not paid for again.',
  ),
  rule(
    /left of the budget "([^"]*)"/,
    ([, name]) => `The budget ${name} was used up`,
    'Raise the budget or wait for its next period, then resume the run.',
  ),
  rule(/left of the balance|has too few left/, 'The balance ran out', 'Add credits, then resume the run.'),
]

const CONFIGURATION: readonly Rule[] = [
  rule(
    /^Skipped: (?:.*; )?([\w, ]+?) gave no result/,
    'Skipped, because an earlier action gave no result',
    'Mend the earlier action, then run these rows from the failure on.',
  ),
  rule(
    /required and empty: (\w+)(,| and )?/,
    ([, field, more]) => (more ? 'Required values are empty' : `${labelOf(field)} is empty`),
    'Fill in the value in these rows, or choose another column under Configure.',
  ),
  rule(
    /one of these must be set: (.+)/,
    'The row has too few values to look it up',
    'Fill in one of the values that the error names, or choose other columns under Configure.',
  ),
  rule(
    /^unknown references:|\}\} does not exist/,
    'The configuration refers to something that does not exist',
    'Open Configure and replace what is marked red.',
  ),
  rule(
    /environment variable (\S+) has no value/,
    ([, key]) => `The variable ${key} has no value`,
    'Set it under Settings, Environment, then run these cells again.',
  ),
  rule(
    /there is no connection "([^"]*)"/,
    ([, name]) => `There is no connection ${name}`,
    'Choose another connection under Configure, or add it under Settings, Connections.',
  ),
  rule(
    /^(?:.*: )?(.+?) is not connected/,
    ([, name]) => `${name} is not connected`,
    'Add the connection under Settings, Connections, then run these cells again.',
  ),
  rule(
    /none of its providers can be asked/,
    'There is no key for any of the providers',
    'Add a key under Settings, Connections, or choose other providers under Configure.',
  ),
  rule(
    /cannot be (?:read|decrypted) with LOAM_SECRET|LOAM_SECRET/,
    'A stored secret cannot be read',
    'Replace the key under Settings, Connections, or the variable under Settings, Environment.',
  ),
  rule(
    /not in the catalogue/,
    'This action no longer exists',
    'Delete the column, or replace it by another action.',
  ),
  rule(
    /rows were sent on \d+ times/,
    'Sheets send rows to each other in a circle',
    'Remove one of the actions that send rows on.',
  ),
  rule(
    /body and raw_body are both set/,
    'Body and raw body are both set',
    'Open Configure and clear one of them.',
  ),
  rule(
    /nothing to (?:write|look for)/,
    'There is nothing to send: every value is empty',
    'Fill in the values in these rows, or choose other columns under Configure.',
  ),
]

const HTTP_HINTS: readonly (readonly [RegExp, string])[] = [
  [/^40[13]$|^407$/, KEYS],
  [/^402$/, 'The account there has no credits left. Top it up, then run these cells again.'],
  [/^404$|^410$/, 'Nothing is at this address. Check the address under Configure and the values of the row.'],
  [/^4(08|25|29)$/, 'The service received too many requests. Run these cells again later.'],
  [
    /^4/,
    'The service did not accept what was sent. Check the fields under Configure and the values of the row.',
  ],
  [/^5/, 'The service has a problem of its own. Run these cells again later.'],
]

const OUTSIDE: readonly Rule[] = [
  rule(/refused the key|key was refused|invalid.{0,20}key|unauthori[sz]ed/i, 'The key was refused', KEYS),
  rule(
    /insufficient_quota|key is used up|payment required/i,
    'The account at the provider has no credits left',
    'Top up the account, or use another key, then run these cells again.',
  ),
  rule(/rate.?limit|too many requests|HTTP 429/i, 'The service received too many requests', AGAIN),
  rule(/keeps failing and is not called/, 'The provider keeps failing and is paused', AGAIN),
  rule(
    /took more than \d+ ms/,
    'The formula took too long',
    'Make the formula simpler, or shorten the values it works on.',
  ),
  rule(
    /no (?:connection|answer|complete answer).{0,30}(?:within|in time)|timed? ?out|took too long|did not (?:answer|end|finish)|time limit|no result, although/i,
    'No answer in time',
    'Run these cells again, or raise the timeout of the action if it has one.',
  ),
  rule(
    /no such host|host name (?:has no address|could not be resolved)/,
    'The server does not exist',
    ADDRESS,
  ),
  rule(
    /no connection \(|connection broke|broke before/,
    'No connection to the server',
    `Check host and port. ${AGAIN}`,
  ),
  rule(/TLS failed/, "The server's certificate could not be checked", 'The server has to be mended first.'),
  rule(
    /LOAM_EGRESS_ALLOW|private address|this machine's own/,
    'The address is inside a private network',
    'Use a public address, or ask who runs this server to allow it.',
  ),
  rule(
    /may not be read by programs/,
    'The website does not allow programs to read this page',
    'Choose another page, or another source for this value.',
  ),
  rule(/redirects more than/, 'The page redirects in a circle', ADDRESS),
  rule(/is \S+, not (?:a|an) (.+)/, 'The address leads to another kind of file', ADDRESS),
  rule(
    /(?:model server answered|answers?|^|: )\s*HTTP (\d{3})\b/,
    ([, status]) => `The API returned ${status}`,
    '',
  ),
  rule(
    /answer is not valid JSON|is no JSON|something that is not/,
    'The answer could not be read',
    'Check the address, or read the answer as text.',
  ),
  rule(/call was cancelled|process is stopping/, 'The call was interrupted', AGAIN),
  rule(
    /no provider could answer/,
    'No provider could answer',
    'Look at the errors of the providers below, then run these cells again.',
  ),
  rule(/search engines are busy/, 'The search engines are busy', AGAIN),
]

const VALUES: readonly Rule[] = [
  rule(
    /crashed its worker/,
    'This row crashed the server three times',
    'Shorten the values of the row, or leave the row out.',
  ),
  rule(/was claimed \d+ times/, 'This row was tried too often without a result', AGAIN),
  rule(
    /outputs take more than|more than [\d,]+ (?:values|elements|keys)|too large/i,
    'The answer is too large',
    'Ask for less, or split it over several actions.',
  ),
  rule(
    /is no email address|cannot be an email address|is not an address/,
    'The value is not an email address',
    VALUE,
  ),
  rule(/is not a domain name|names no website/, 'The value is not a domain', VALUE),
  rule(/is not an? https? (?:or https )?address|no address to read/, 'The value is not a web address', VALUE),
  rule(/is not a list|not a JSON array/, 'The value is not a list', VALUE),
  rule(
    /^(?:Syntax|Reference)Error|unexpected token|the formula /i,
    'The formula has a mistake',
    'Open Configure and correct the formula, then run these cells again.',
  ),
  rule(
    /^TypeError|is not a function|of (?:undefined|null)\b|cannot read prop/i,
    'The formula uses a value that is missing',
    'Give the value a fallback in the formula: put it in brackets with ?? "" behind it.',
  ),
  rule(
    /broke its sandbox/,
    'The formula was ended because it did something that is not allowed',
    'Change the formula.',
  ),
  rule(
    /^(\w+): (?:"[^"]*" )?(?:must|is not|is no)\b/,
    ([, field]) => `${labelOf(field)} has a value that does not fit`,
    VALUE,
  ),
  rule(
    /\b(\w+) must (?:be|have|name)\b/,
    ([, field]) => `${labelOf(field)} has a value that does not fit`,
    VALUE,
  ),
]

const RULES = [...MONEY, ...CONFIGURATION, ...OUTSIDE, ...VALUES]
const MAX_WORDS = 140

/** Returns the words for the error of a failed cell. */
export function describeFailure(status: CellStatus, error: string): FailureWords {
  for (const { pattern, words, hint } of RULES) {
    const match = pattern.exec(error)
    if (match === null) continue
    return { words: words(match), hint: hint === '' ? findHttpHint(match[1] ?? '') : hint }
  }
  return {
    words: shorten(error),
    hint:
      status === 'error'
        ? 'The action could not run as it is configured. Open Configure, correct what the error names, then run these cells again.'
        : 'Check the values of the row and the configuration, then run these cells again.',
  }
}

const findHttpHint = (status: string): string =>
  HTTP_HINTS.find(([pattern]) => pattern.test(status))?.[1] ?? AGAIN

/** Returns the first sentence of an error that no rule knows, with a capital letter. */
function shorten(error: string): string {
  const plain = error.replace(/^(?:Error: )+/, '').trim()
  const [sentence = ''] = plain.split(/(?<=[.!?])\s/, 1)
  const text = sentence === '' ? 'No reason was given' : sentence.replace(/\.$/, '')
  const short = text.length > MAX_WORDS ? `${text.slice(0, MAX_WORDS - 1).trimEnd()}…` : text
  return `${short.charAt(0).toUpperCase()}${short.slice(1)}`
}
