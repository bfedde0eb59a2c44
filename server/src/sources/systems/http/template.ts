import { z } from 'zod'
import { parseTemplate, resolveTemplate, type Token } from '../../../catalog/chain/references.ts'
import { type Refusal, refusal } from '../../../catalog/provider/reply.ts'
import { replaceText } from '../../../lib/search.ts'
import { describeUnreadable, type EnvValues } from '../../../lib/security/env-values.ts'

/** Names under which credentials are sent. */
const SECRET_HEADER = /^(authorization|proxy-authorization|cookie)$|key|token|secret|password|signature/i
const SECRET_PARAMETER =
  /^((api|app|access|auth)?[_-]?(key|token|secret)|password|client[_-]?secret|signature)$/i

const isEnv = (token: Token) => token.kind === 'env'

/** What a source stores is shown to whoever may read it: credentials are named there, never written. */
function templateOf(max: number) {
  return z
    .string()
    .max(max)
    .refine(
      (text) => parseTemplate(text).every((part) => part.kind === 'text' || isEnv(part.token)),
      'may refer to nothing but environment variables, as {{env.API_KEY}}',
    )
}

const hasEnv = (text: string) => parseTemplate(text).some((part) => part.kind === 'token')

const MOVE =
  'holds a credential: put it into an environment variable (`loam env set API_KEY -`) and write {{env.API_KEY}}'

function pairsOf(names: z.ZodType<string, string>, isSecret: RegExp) {
  return z.record(names, templateOf(8000)).check(({ value, issues }) => {
    for (const [name, text] of Object.entries(value)) {
      if (isSecret.test(name) && text !== '' && !hasEnv(text)) {
        issues.push({ code: 'custom', input: text, path: [name], message: MOVE })
      }
    }
  })
}

const HeaderName = z
  .string()
  .max(200)
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header')

export const Headers = pairsOf(HeaderName, SECRET_HEADER)
  .describe('Request headers; credentials as {{env.API_KEY}}')
  .optional()

export const Parameters = pairsOf(z.string().min(1).max(200), SECRET_PARAMETER)
  .describe('Parameters of the address; credentials as {{env.API_KEY}}')
  .optional()

export const Address = z
  .string()
  .trim()
  .max(4000)
  .refine(
    (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
    'must be an address that starts with https://',
  )
  .refine((text) => {
    const url = URL.parse(text)
    return url === null || (url.username === '' && url.password === '')
  }, 'must hold no user name or password; send them as a header')
  .refine((text) => !text.includes('{{'), 'may not refer to variables; put them into query or headers')

export type Env = EnvValues

type Filled = { ok: true; texts: Record<string, string> } | { ok: false; refusal: Refusal }

/** Texts with the values of environment variables in them, or which variable has none. */
export function fillIn(texts: Readonly<Record<string, string>> | undefined, env: Env): Filled {
  const filled: Record<string, string> = {}
  for (const [name, text] of Object.entries(texts ?? {})) {
    const { value, missing } = resolveTemplate(parseTemplate(text), (token) => {
      const known = token.kind === 'env' ? env.get(token.key) : undefined
      return known === undefined ? { found: false } : { found: true, value: known }
    })
    const [first] = missing
    if (first !== undefined) {
      const key = first.kind === 'env' ? first.key : ''
      const words =
        describeUnreadable(env, key) ??
        `the environment variable ${key} has no value; run \`loam env set ${key} -\``
      return { ok: false, refusal: refusal('unconfigured', words) }
    }
    filled[name] = value
  }
  return { ok: true, texts: filled }
}

/** Variables that a source refers to: their values are cut out of what others read. */
export function variablesIn(
  texts: readonly (Readonly<Record<string, string>> | undefined)[],
  env: Env,
): [key: string, value: string][] {
  const keys = texts
    .flatMap((named) => Object.values(named ?? {}))
    .flatMap((text) => parseTemplate(text))
    .flatMap((part) => (part.kind === 'token' && part.token.kind === 'env' ? [part.token.key] : []))
  return [...new Set(keys)].flatMap((key): [string, string][] => {
    const value = env.get(key)
    return value === undefined ? [] : [[key, value]]
  })
}

/** An address as it may be stored: values of variables are their names again, and come back by `fillIn`. */
export function withoutSecrets(address: string, keys: Iterable<[key: string, value: string]>): string {
  let text = address
  for (const [key, value] of keys) {
    if (value.length < SHORTEST_SECRET) continue
    for (const spelled of new Set([encodeURIComponent(value), value]))
      text = replaceText(text, spelled, `{{env.${key}}}`)
  }
  return text
}

const SHORTEST_SECRET = 4
