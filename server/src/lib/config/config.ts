import { resolve } from 'node:path'
import { z } from 'zod'
import { parseEgressAllow } from '../egress/addresses.ts'
import { parseNameServers } from '../egress/name-servers.ts'
import { trimEnd } from '../plain-text.ts'
import { type ProviderSettings, readProviderSettings } from './provider-settings.ts'
import { parseTrustedProxies } from './trusted-proxies.ts'

/** Reads pairs of a name and a number, such as `groq=4,openai/gpt-5=2`. */
const numbersByName = (fault: string, fits: (value: number) => boolean) =>
  z
    .string()
    .default('')
    .transform((text, context): ReadonlyMap<string, number> => {
      const parts = splitList(text).filter((part) => part !== '')
      const pairs = parts.map((part) => {
        const at = part.lastIndexOf('=')
        return [part.slice(0, Math.max(0, at)).trim(), part.slice(at + 1).trim()] as const
      })
      if (
        pairs.every(([name, value]) => name !== '' && /^\d+(\.\d{1,3})?$/.test(value) && fits(Number(value)))
      )
        return new Map(pairs.map(([name, value]) => [name, Number(value)]))
      context.addIssue({ code: 'custom', message: fault })
      return z.NEVER
    })

const wholeNumber = (fallback: number, min = 1, max = 2_147_483_647) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be between ${min} and ${max}`)
    .default(fallback)

const urlText = (...protocols: string[]) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol.slice(0, -1)), {
    error: `must be a URL that starts with ${protocols.map((name) => `${name}://`).join(' or ')}`,
  })

const oneOf = <const Words extends readonly string[]>(...words: Words) =>
  z.enum(words, `must be one of: ${words.join(', ')}`)

const splitList = (text: string) => text.split(',').map((part) => part.trim())

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/
const isSafeIssuer = (text: string) => {
  const url = URL.parse(text)
  return url?.protocol !== 'http:' || LOOPBACK.test(url.hostname)
}

const Roles = z
  .string()
  .transform(splitList)
  .pipe(z.array(z.enum(['api', 'worker'], 'must be a list of: api, worker')))

/**
 * All settings by the name of their environment variable (D55). `docs/reference/settings.md` is generated
 * from this list.
 */
export const SETTINGS = {
  HOST: z.string().default('127.0.0.1').describe('Address to listen on'),
  PORT: wholeNumber(8787, 0, 65_535).describe('Port to listen on; 0 chooses a free one'),
  DATABASE_URL: urlText('postgres', 'postgresql')
    .optional()
    .describe(
      'PostgreSQL 15 or later, as an ordinary role that owns the database (row-level security does not bind a superuser), directly or through a pooler in session mode. Without it Loam runs an embedded PostgreSQL 18',
    ),
  LOAM_DATA_DIR: z
    .string()
    .default('./data')
    .transform((path) => resolve(path))
    .describe('Folder of the embedded database, files, the secret and the first key'),
  LOAM_ROLES: Roles.default(['api', 'worker']).describe('What this process does: api, worker or both'),
  LOAM_SECRET: z
    .string()
    .refine((text) => splitList(text).every((part) => part.length >= 16), 'must be at least 16 characters')
    .optional()
    .describe(
      'Encrypts secrets at rest; `new,old` while rotating. Made in the data folder when absent; required with DATABASE_URL',
    ),
  LOAM_PUBLIC_URL: urlText('http', 'https')
    .transform((text) => trimEnd(text, '/'))
    .optional()
    .describe('Address at which users reach this server, used in links; by default http://HOST:PORT'),
  LOAM_CONTACT: z
    .string()
    .trim()
    .regex(/^[\x21-\x7e]{3,200}$/, 'must be a mail address or a URL')
    .optional()
    .describe(
      'Mail address or page at which operators of free services (OpenStreetMap) reach you; by default LOAM_PUBLIC_URL',
    ),
  LOAM_TRUST_PROXY: z
    .string()
    .default('false')
    .transform((text, context) => {
      const trusted = parseTrustedProxies(text)
      if (typeof trusted !== 'string') return trusted
      context.addIssue({ code: 'custom', message: trusted })
      return z.NEVER
    })
    .describe(
      'Your proxies whose X-Forwarded-For header is trusted: their number (true is 1), or their addresses and networks (10.0.0.0/8,192.0.2.1). With false, callers without a key are counted by the address they connect from',
    ),
  LOAM_REQUEST_STALL_SECONDS: wholeNumber(60, 1, 3600).describe(
    'Ends a request that stops arriving, or an answer that is not read, after this many seconds',
  ),
  LOAM_CONNECTIONS: wholeNumber(2000, 10).describe(
    'Open connections of one API process; beyond it the longest idle ones are closed',
  ),
  LOAM_CONNECTIONS_PER_ADDRESS: wholeNumber(200).describe(
    'Open connections of one address that has not shown a valid key; no limit for proxies of LOAM_TRUST_PROXY. Beyond it idle ones are closed',
  ),
  LOAM_OVERLOAD_MS: wholeNumber(1000, 0, 60_000).describe(
    'Requests that take longer are a sign of overload: fewer are admitted at once, and callers with several under way get 503 with Retry-After; 0 refuses none',
  ),
  LOAM_ADMIN_EMAIL: z
    .string()
    .regex(/^[^\s@]+@[^\s@]+$/, 'must be an email address')
    .transform((text) => text.toLowerCase())
    .default('admin@localhost')
    .describe('Administrator that the first start creates'),
  LOAM_RATE_LIMIT_PER_MINUTE: wholeNumber(200).describe(
    'Requests per minute and key, or per client address without a key',
  ),
  LOAM_RATE_LIMIT_PER_DAY: wholeNumber(10_000).describe(
    'Requests per UTC day and key, or per client address without a key',
  ),
  LOAM_PREVIEWS_PER_HOUR: wholeNumber(60).describe(
    "Previews of sources that use the installation's keys and models, per hour and organisation; previews on own keys are not counted",
  ),
  LOAM_STREAMS_PER_KEY: wholeNumber(20).describe(
    'Event streams (/changes, the web agent) that one key may have open at one API process',
  ),
  LOAM_STREAMS_PER_ORG: wholeNumber(200).describe(
    'Event streams (/changes, the web agent) that one organisation may have open at one API process',
  ),
  LOAM_ROWS_PER_ORG: wholeNumber(100_000_000).describe('Rows of one organisation, in all sheets together'),
  LOAM_STORAGE_MB_PER_ORG: wholeNumber(100_000).describe(
    'Megabytes of uploaded files and exports of one organisation',
  ),
  LOAM_REVISIONS_KEPT: wholeNumber(50).describe(
    'Revisions kept of each sheet, besides those that runs and shortcuts need',
  ),
  LOAM_EXPORTS_PER_ORG: wholeNumber(200).describe('Exports of one organisation that wait or are being built'),
  LOAM_WEBHOOK_PER_MINUTE: wholeNumber(6000).describe('Deliveries per minute to the webhook of one sheet'),
  LOAM_SEGMENT_CHANGES_DAYS: wholeNumber(30, 1, 3650).describe(
    'Days for which changes of segments can be read from the feed',
  ),
  LOAM_PIXEL_PER_MINUTE: wholeNumber(6000).describe('Page views per minute that one visitor source takes'),
  LOAM_INITIAL_CREDITS: wholeNumber(100_000, 0).describe('Credits a new organisation starts with'),
  LOAM_MEMBER_LIMIT: wholeNumber(0, 0)
    .transform((n) => (n === 0 ? null : n))
    .describe('Members and pending invitations per organisation; 0 is no limit'),
  LOAM_CONCURRENCY: wholeNumber(1000, 1, 10_000).describe('Cells that one worker process runs at once'),
  LOAM_SANDBOX: oneOf('thread', 'process')
    .optional()
    .describe(
      'Where formulas run: thread (of the server) or process (apart, without rights); by default process if there is more than one organisation',
    ),
  LOAM_EGRESS_ALLOW: z
    .string()
    .default('')
    .transform((text, context) => {
      const { entries, errors } = parseEgressAllow(text)
      for (const message of errors) context.addIssue({ code: 'custom', message })
      return entries
    })
    .describe(
      'Private hosts that outgoing calls may reach, separated by commas: host, host:port, 10.0.0.0/8, 10.1.2.3:8080, [fd00::/8]:443',
    ),
  LOAM_DNS_SERVERS: z
    .string()
    .default('')
    .transform((text, context) => {
      const { servers, errors } = parseNameServers(text)
      for (const message of errors) context.addIssue({ code: 'custom', message })
      return servers
    })
    .describe(
      "Name servers, separated by commas: 192.0.2.53, 192.0.2.53:5353, [2001:db8::53]:53; by default the system's",
    ),
  LOAM_SMTP_PROBE_PORT: wholeNumber(25, 0, 65_535).describe(
    'Port at which verify_email asks mail servers about an address; 0 turns this off',
  ),
  LOAM_S3_BUCKET: z
    .string()
    .optional()
    .describe(
      'Bucket for uploaded files and exports, needed if several machines serve; without it files are in the data folder',
    ),
  LOAM_S3_ENDPOINT: urlText('http', 'https')
    .optional()
    .describe(
      'Address of an S3-compatible store (https://minio.example.com); by default Amazon S3 in the region',
    ),
  LOAM_S3_REGION: z.string().default('us-east-1').describe('Region of the bucket'),
  LOAM_S3_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe("Key of the bucket; without one, the process's environment is asked"),
  LOAM_S3_SECRET_ACCESS_KEY: z.string().optional().describe('Secret of that key'),
  LOAM_S3_FORCE_PATH_STYLE: oneOf('true', 'false')
    .transform((text) => text === 'true')
    .optional()
    .describe('Name the bucket in the path instead of the host; true by default with LOAM_S3_ENDPOINT'),
  LOAM_MODEL_BASE_URL: urlText('http', 'https')
    .transform((text) => trimEnd(text, '/'))
    .optional()
    .describe(
      'OpenAI-compatible model server with its /v1 (http://127.0.0.1:11434/v1); may be on a private network',
    ),
  LOAM_MODEL_API_KEY: z.string().optional().describe('Key of that server, if it requires one'),
  LOAM_MODELS: z
    .string()
    .default('')
    .transform((text) => splitList(text).filter((name) => name !== ''))
    .describe('Names of the models offered, separated by commas; without it every model that the server has'),
  LOAM_ANTHROPIC_API_KEY: z
    .string()
    .optional()
    .describe('Key for the models of Anthropic, which are named anthropic/<name>'),
  LOAM_MODEL_CONCURRENCY: wholeNumber(0, 0).describe(
    'Calls at once to one model, by all processes together; 0 is no limit',
  ),
  LOAM_MODEL_LIMITS: numbersByName('must be name=calls pairs such as groq=4,openai/gpt-5=2', (n) =>
    Number.isInteger(n),
  ).describe('Calls at once to a model or to each model of a vendor, instead of LOAM_MODEL_CONCURRENCY'),
  LOAM_MODEL_PRICES: numbersByName(
    'must be name=factor pairs such as groq=0.5,openai/gpt-5=3',
    (n) => n <= 1000,
  ).describe(
    'Factors on the credits of actions for a model or a vendor, on keys of the installation; by default 1',
  ),
  LOAM_MODEL_TIMEOUT_SECONDS: wholeNumber(120, 1, 600).describe('Longest time for one answer of a model'),
  LOAM_SEARCH_URL: urlText('http', 'https')
    .transform((text) => trimEnd(text, '/'))
    .optional()
    .describe('A SearXNG server for web searches; name its host in LOAM_EGRESS_ALLOW if it is private'),
  LOAM_AGENT_MODEL: z
    .string()
    .optional()
    .describe('Model of the web agent; by default the first of LOAM_MODELS, or the model named default'),
  LOAM_AGENT_PER_HOUR: wholeNumber(60).describe('Calls of the web agent per hour and organisation'),
  LOAM_AGENT_CONCURRENCY: wholeNumber(5).describe('Calls of the web agent at once, per organisation'),
  LOAM_AGENT_TIMEOUT_SECONDS: wholeNumber(150, 1, 3600).describe(
    'Longest time for one call of the web agent',
  ),
  LOAM_AGENT_PAGE_SECONDS: wholeNumber(600, 0, 86_400).describe(
    'How long a page that the web agent has read is kept for the next call; 0 keeps none',
  ),
  LOAM_SEGMENT_CYCLE_SECONDS: wholeNumber(300, 1, 86_400).describe(
    'How often members of segments are delivered into workflows',
  ),
  LOAM_SEGMENT_FLOOD_MEMBERS: wholeNumber(500, 0).describe(
    'A cycle of a segment sync that would deliver more members than this, and more than LOAM_SEGMENT_FLOOD_FACTOR allows, waits for confirmation',
  ),
  LOAM_SEGMENT_FLOOD_FACTOR: wholeNumber(3, 0, 1000).describe(
    'A cycle may deliver up to this many times the largest of the last 10 cycles without confirmation',
  ),
  LOAM_SEGMENT_REPUSH_PER_DAY: wholeNumber(288, 1).describe(
    'How often a member that leaves its segment and returns is delivered to one workflow within 24 hours; by default once every cycle of five minutes',
  ),
  LOAM_BROWSER: z
    .string()
    .optional()
    .describe(
      'Path of a Chromium for pages that need scripts (the web agent, and scrape_website with render: browser); by default the one of CHROME_PATH, PATH or the cache of Playwright; `none` turns it off',
    ),
  LOAM_SMTP_URL: urlText('smtp', 'smtps')
    .optional()
    .describe('Mail server for invitations, sign-in links and alerts (smtp://user:pass@host:587)'),
  LOAM_MAIL_FROM: z
    .string()
    .optional()
    .describe('Sender of mails; by default loam@<host of LOAM_PUBLIC_URL>'),
  LOAM_OIDC_ISSUER: urlText('http', 'https')
    .refine(isSafeIssuer, 'must be https:// (http:// on this machine only)')
    .optional()
    .describe(
      'Issuer of an OpenID provider that members and invited people may sign in with; its callback is <public url>/sign-in/oidc',
    ),
  LOAM_OIDC_CLIENT_ID: z.string().optional().describe('Client of this server at that provider'),
  LOAM_OIDC_CLIENT_SECRET: z.string().optional().describe('Secret of that client'),
  LOAM_MAIL_PER_HOUR: wholeNumber(200, 0).describe(
    'Recipients per hour and organisation over LOAM_SMTP_URL: send_email, invitations and alerts of budgets together',
  ),
  LOAM_LOG_LEVEL: oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent')
    .default('info')
    .describe('Least severe line that is logged'),
}

const Environment = z.object(SETTINGS)
export type Config = z.infer<typeof Environment> & ProviderSettings

export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** Reads the environment. Throws one ConfigError with a line for each wrong variable. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(
    Object.keys(SETTINGS).flatMap((name) => (env[name] ? [[name, env[name]] as const] : [])),
  )
  const parsed = Environment.safeParse(given)
  const lines = parsed.success ? [] : formatIssues(parsed.error)
  if (given['DATABASE_URL'] !== undefined && given['LOAM_SECRET'] === undefined) {
    lines.push(
      'LOAM_SECRET: required with DATABASE_URL (the same on every process; e.g. openssl rand -hex 32)',
    )
  }
  lines.push(...incompleteS3(given), ...incompleteOidc(given))
  const providers = readProviderSettings(env)
  lines.push(...providers.lines)
  if (!parsed.success || lines.length > 0) throw new ConfigError(lines.join('\n'))
  return { ...parsed.data, ...providers.settings }
}

/**
 * Returns a line for each S3 setting that is missing. An incomplete configuration would silently use the data
 * folder or another account.
 */
function incompleteS3(given: Record<string, string | undefined>): string[] {
  const missing = (name: string, by: string) =>
    given[by] !== undefined && given[name] === undefined ? [`${name}: required with ${by}`] : []
  const parts = ['LOAM_S3_ENDPOINT', 'LOAM_S3_ACCESS_KEY_ID', 'LOAM_S3_SECRET_ACCESS_KEY']
  return [
    ...parts.flatMap((by) => missing('LOAM_S3_BUCKET', by)).slice(0, 1),
    ...missing('LOAM_S3_ACCESS_KEY_ID', 'LOAM_S3_SECRET_ACCESS_KEY'),
    ...missing('LOAM_S3_SECRET_ACCESS_KEY', 'LOAM_S3_ACCESS_KEY_ID'),
  ]
}

function incompleteOidc(given: Record<string, string | undefined>): string[] {
  const names = ['LOAM_OIDC_ISSUER', 'LOAM_OIDC_CLIENT_ID', 'LOAM_OIDC_CLIENT_SECRET']
  const missing = names.filter((name) => given[name] === undefined)
  if (missing.length === names.length) return []
  return missing.map((name) => `${name}: required with the other settings of single sign-on`)
}

function formatIssues(error: z.ZodError): string[] {
  const byName = Map.groupBy(error.issues, (issue) => String(issue.path[0]))
  return [...byName].map(
    ([name, issues]) => `${name}: ${[...new Set(issues.map((issue) => issue.message))].join('; ')}`,
  )
}
