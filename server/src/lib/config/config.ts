import { resolve } from 'node:path'
import { z } from 'zod'
import { parseEgressAllow } from '../egress/addresses.ts'
import { parseNameServers } from '../egress/name-servers.ts'
import { type ProviderSettings, readProviderSettings } from './provider-settings.ts'
import { parseTrustedProxies } from './trusted-proxies.ts'

const whole = (fallback: number, min = 1, max = 2_147_483_647) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be between ${min} and ${max}`)
    .default(fallback)

const urlOf = (...protocols: string[]) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol.slice(0, -1)), {
    error: `must be a URL that starts with ${protocols.map((name) => `${name}://`).join(' or ')}`,
  })

const oneOf = <const Words extends readonly string[]>(...words: Words) =>
  z.enum(words, `must be one of: ${words.join(', ')}`)

const partsOf = (text: string) => text.split(',').map((part) => part.trim())

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/
const isSafeIssuer = (text: string) => {
  const url = URL.parse(text)
  return url?.protocol !== 'http:' || LOOPBACK.test(url.hostname)
}

const Roles = z
  .string()
  .transform(partsOf)
  .pipe(z.array(z.enum(['api', 'worker'], 'must be a list of: api, worker')))

/** Every setting, by its environment variable (D55). The README's table is checked against this list. */
export const SETTINGS = {
  HOST: z.string().default('127.0.0.1').describe('Address to listen on'),
  PORT: whole(8787, 0, 65_535).describe('Port to listen on; 0 takes a free one'),
  DATABASE_URL: urlOf('postgres', 'postgresql')
    .optional()
    .describe('PostgreSQL 15 or later; without it the embedded server is used'),
  LOAM_DATA_DIR: z
    .string()
    .default('./data')
    .transform((path) => resolve(path))
    .describe('Embedded database, files, secret, first key'),
  LOAM_ROLES: Roles.default(['api', 'worker']).describe('What this process does: api, worker'),
  LOAM_SECRET: z
    .string()
    .refine((text) => partsOf(text).every((part) => part.length >= 16), 'must be at least 16 characters')
    .optional()
    .describe(
      'Key for secrets at rest; `new,old` while rotating. Made in the data dir when absent; required with DATABASE_URL',
    ),
  LOAM_PUBLIC_URL: urlOf('http', 'https')
    .transform((text) => text.replace(/\/+$/, ''))
    .optional()
    .describe('Address users reach this server at, for links; by default http://HOST:PORT'),
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
      'Proxies whose X-Forwarded-For is believed: false, how many there are in a row (true is 1), or their addresses',
    ),
  LOAM_REQUEST_STALL_SECONDS: whole(60, 1, 3600).describe(
    'A request or an answer without progress for so long is ended',
  ),
  LOAM_CONNECTIONS: whole(2000, 10).describe(
    'Connections that one API process has open; beyond it the longest idle ones are closed',
  ),
  LOAM_CONNECTIONS_PER_ADDRESS: whole(200).describe(
    'Connections of one address on which no valid key came; none for a proxy of LOAM_TRUST_PROXY. Beyond it idle ones are closed',
  ),
  LOAM_OVERLOAD_MS: whole(1000, 0, 60_000).describe(
    'Requests that take longer are a sign of overload, and some of callers with many are refused; 0 refuses none',
  ),
  LOAM_ADMIN_EMAIL: z
    .string()
    .regex(/^[^\s@]+@[^\s@]+$/, 'must be an email address')
    .transform((text) => text.toLowerCase())
    .default('admin@localhost')
    .describe('Administrator made by the first start'),
  LOAM_RATE_LIMIT_PER_MINUTE: whole(200).describe('Requests per minute and key'),
  LOAM_RATE_LIMIT_PER_DAY: whole(10_000).describe('Requests per UTC day and key'),
  LOAM_PREVIEWS_PER_HOUR: whole(60).describe(
    "Previews of sources on the installation's keys and models, per hour and organisation",
  ),
  LOAM_STREAMS_PER_KEY: whole(20).describe('Streams of events that one key may have open at one API process'),
  LOAM_STREAMS_PER_ORG: whole(200).describe(
    'Streams of events that one organisation may have open at one API process',
  ),
  LOAM_ROWS_PER_ORG: whole(100_000_000).describe(
    'Rows that one organisation may have, in all sheets together',
  ),
  LOAM_STORAGE_MB_PER_ORG: whole(100_000).describe(
    'Megabytes that uploaded files and exports of one organisation may take',
  ),
  LOAM_REVISIONS_KEPT: whole(50).describe(
    'Revisions of a sheet that are kept, besides those that runs and shortcuts need',
  ),
  LOAM_EXPORTS_PER_ORG: whole(200).describe(
    'Exports that one organisation may have under way, waiting or being built',
  ),
  LOAM_WEBHOOK_PER_MINUTE: whole(6000).describe('Deliveries per minute to the webhook of one sheet'),
  LOAM_SEGMENT_CHANGES_DAYS: whole(30, 1, 3650).describe(
    'Days for which changes of segments are kept for readers of the feed',
  ),
  LOAM_PIXEL_PER_MINUTE: whole(6000).describe('Page views per minute that one source of visitors takes'),
  LOAM_INITIAL_CREDITS: whole(100_000, 0).describe('Credits a new organisation starts with'),
  LOAM_MEMBER_LIMIT: whole(0, 0)
    .transform((n) => (n === 0 ? null : n))
    .describe('Members and pending invitations per organisation; 0 is no limit'),
  LOAM_CONCURRENCY: whole(1000, 1, 10_000).describe('Cells that one worker process has at work at once'),
  LOAM_SANDBOX: oneOf('thread', 'process')
    .optional()
    .describe(
      'Where formulas run: in a thread of the server, or in processes of their own without rights; by default in processes where there is more than one organisation',
    ),
  LOAM_EGRESS_ALLOW: z
    .string()
    .default('')
    .transform((text, context) => {
      const { entries, errors } = parseEgressAllow(text)
      for (const message of errors) context.addIssue({ code: 'custom', message })
      return entries
    })
    .describe('Private hosts, host:port or CIDRs that outgoing calls may reach'),
  LOAM_DNS_SERVERS: z
    .string()
    .default('')
    .transform((text, context) => {
      const { servers, errors } = parseNameServers(text)
      for (const message of errors) context.addIssue({ code: 'custom', message })
      return servers
    })
    .describe('Name servers that are asked, as address or address:port; by default those of the system'),
  LOAM_SMTP_PROBE_PORT: whole(25, 0, 65_535).describe(
    'Port at which verify_email asks mail servers about an address; 0 asks none',
  ),
  LOAM_S3_BUCKET: z
    .string()
    .optional()
    .describe('Bucket for uploaded files and exports; without it they are in the data dir'),
  LOAM_S3_ENDPOINT: urlOf('http', 'https')
    .optional()
    .describe('Address of an S3-compatible store; by default that of Amazon in the region'),
  LOAM_S3_REGION: z.string().default('us-east-1').describe('Region of the bucket'),
  LOAM_S3_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe('Key of the bucket; without one, what the environment of the process offers'),
  LOAM_S3_SECRET_ACCESS_KEY: z.string().optional().describe('Secret of that key'),
  LOAM_S3_FORCE_PATH_STYLE: oneOf('true', 'false')
    .transform((text) => text === 'true')
    .optional()
    .describe('Name the bucket in the path, not in the host; by default with LOAM_S3_ENDPOINT'),
  LOAM_MODEL_BASE_URL: urlOf('http', 'https')
    .transform((text) => text.replace(/\/+$/, ''))
    .optional()
    .describe('OpenAI-compatible model server, with its /v1; may be on a private network'),
  LOAM_MODEL_API_KEY: z.string().optional().describe('Key of that server, where it wants one'),
  LOAM_MODELS: z
    .string()
    .default('')
    .transform((text) => partsOf(text).filter((name) => name !== ''))
    .describe('Names of the models offered, separated by commas; without it any that the server has'),
  LOAM_ANTHROPIC_API_KEY: z
    .string()
    .optional()
    .describe('Key for models of Anthropic, which are named anthropic/<name>'),
  LOAM_MODEL_CONCURRENCY: whole(0, 0).describe(
    'Calls at once to one model, by all processes together; 0 is no limit',
  ),
  LOAM_MODEL_TIMEOUT_SECONDS: whole(120, 1, 600).describe('How long one answer of a model may take'),
  LOAM_SEARCH_URL: urlOf('http', 'https')
    .transform((text) => text.replace(/\/+$/, ''))
    .optional()
    .describe('A SearXNG that web searches may use'),
  LOAM_AGENT_MODEL: z
    .string()
    .optional()
    .describe('Model that the web agent asks; by default the first of LOAM_MODELS'),
  LOAM_AGENT_PER_HOUR: whole(60).describe('Calls of the web agent per hour and organisation'),
  LOAM_AGENT_CONCURRENCY: whole(5).describe('Calls of the web agent at once, per organisation'),
  LOAM_AGENT_TIMEOUT_SECONDS: whole(150, 1, 3600).describe('How long one call of the web agent may take'),
  LOAM_AGENT_PAGE_SECONDS: whole(600, 0, 86_400).describe(
    'How long a page that an agent read is kept for the next one; 0 keeps none',
  ),
  LOAM_SEGMENT_CYCLE_SECONDS: whole(300, 1, 86_400).describe('How often members of segments are delivered'),
  LOAM_SEGMENT_FLOOD_MEMBERS: whole(500, 0).describe(
    'Members that one cycle of a segment sync may deliver without confirmation',
  ),
  LOAM_SEGMENT_FLOOD_FACTOR: whole(3, 0, 1000).describe(
    'More are delivered without confirmation up to this many times the largest of the last 10 cycles',
  ),
  LOAM_SEGMENT_REPUSH_PER_DAY: whole(288, 1).describe(
    'How often a member of a segment that leaves and returns is delivered to a workflow within 24 hours',
  ),
  LOAM_BROWSER: z
    .string()
    .optional()
    .describe(
      'Path of a Chromium that draws pages which need scripts; by default the one of CHROME_PATH, PATH or the cache of Playwright; `none` for none',
    ),
  LOAM_SMTP_URL: urlOf('smtp', 'smtps')
    .optional()
    .describe('Mail server for invitations and links to sign in'),
  LOAM_MAIL_FROM: z
    .string()
    .optional()
    .describe('Sender of mails; by default loam@<host of LOAM_PUBLIC_URL>'),
  LOAM_OIDC_ISSUER: urlOf('http', 'https')
    .refine(isSafeIssuer, 'must be https:// (http:// on this machine only)')
    .optional()
    .describe('Issuer of an OpenID provider that people may sign in with'),
  LOAM_OIDC_CLIENT_ID: z.string().optional().describe('Client of this server at that provider'),
  LOAM_OIDC_CLIENT_SECRET: z.string().optional().describe('Secret of that client'),
  LOAM_MAIL_PER_HOUR: whole(200, 0).describe(
    'Recipients that an organisation may mail over LOAM_SMTP_URL in an hour',
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

/** Reads the environment; throws one ConfigError with a line for each wrong variable. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(
    Object.keys(SETTINGS).flatMap((name) => (env[name] ? [[name, env[name]] as const] : [])),
  )
  const parsed = Environment.safeParse(given)
  const lines = parsed.success ? [] : linesOf(parsed.error)
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

/** What is asked for by half would be taken for the data folder, or for another account. */
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

function linesOf(error: z.ZodError): string[] {
  const byName = Map.groupBy(error.issues, (issue) => String(issue.path[0]))
  return [...byName].map(
    ([name, issues]) => `${name}: ${[...new Set(issues.map((issue) => issue.message))].join('; ')}`,
  )
}
