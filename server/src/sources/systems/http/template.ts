import { z } from 'zod'
import { parseTemplate, resolveTemplate, type Token } from '../../../catalog/chain/references.ts'
import { type Refusal, refusal } from '../../../catalog/provider/reply.ts'
import { replaceText } from '../../../lib/search.ts'
import { describeUnreadable, type EnvValues } from '../../../lib/security/env-values.ts'

/** Header names that carry credentials. */
const SECRET_HEADER = /^(authorization|proxy-authorization|cookie)$|key|token|secret|password|signature/i
const SECRET_PARAMETER =
  /^((api|app|access|auth)?[_-]?(key|token|secret)|password|client[_-]?secret|signature)$/i

const isEnv = (token: Token) => token.kind === 'env'

/**
 * Builds the schema of a text that may refer to environment variables only. Everyone who may read the source sees its
 * stored fields, so credentials must be referred to, never written there.
 */
function templateSchema(max: number) {
  return z
    .string()
    .max(max)
    .refine(
      (text) => parseTemplate(text).every((part) => part.kind === 'text' || isEnv(part.token)),
      'may only refer to environment variables, such as {{env.API_KEY}}',
    )
}

const hasEnv = (text: string) => parseTemplate(text).some((part) => part.kind === 'token')

const MOVE =
  'holds a credential: put it into an environment variable (`loam env set API_KEY -`) and write {{env.API_KEY}}'

function pairsSchema(names: z.ZodType<string, string>, isSecret: RegExp) {
  return z.record(names, templateSchema(8000)).check(({ value, issues }) => {
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

export const Headers = pairsSchema(HeaderName, SECRET_HEADER)
  .describe('Request headers; credentials as {{env.API_KEY}}')
  .optional()

export const Parameters = pairsSchema(z.string().min(1).max(200), SECRET_PARAMETER)
  .describe('Query parameters of the URL; credentials as {{env.API_KEY}}')
  .optional()

export const Address = z
  .string()
  .trim()
  .max(4000)
  .refine(
    (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
    'must be a URL that starts with https://',
  )
  .refine((text) => {
    const url = URL.parse(text)
    return url === null || (url.username === '' && url.password === '')
  }, 'must not contain a user name or password; send them in a header')
  .refine((text) => !text.includes('{{'), 'must not refer to variables; put them into query or headers')

export type Env = EnvValues

type Filled = { ok: true; texts: Record<string, string> } | { ok: false; refusal: Refusal }

/** Replaces references by the values of environment variables. Refuses if a variable has no value. */
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

/** Returns the variables that a source refers to. Their values are removed from what users can read. */
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

/** Returns a URL that may be stored: values of variables become references again, which `fillIn` resolves later. */
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
