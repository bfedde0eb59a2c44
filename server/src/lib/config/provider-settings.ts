import { z } from 'zod'
import { trimEnd } from '../plain-text.ts'

/**
 * Settings whose names contain the name of a provider (D57, D66). The key is the provider's id in lower case.
 */
export type ProviderSettings = {
  providerUrls: ReadonlyMap<string, string>
  providerKeys: ReadonlyMap<string, string>
}

const URL_PREFIX = 'LOAM_PROVIDER_URL_'
const KEY_PREFIX = 'LOAM_PROVIDER_KEY_'

const HttpUrl = z
  .string()
  .refine((text) => ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? ''), {
    error: 'must be a URL that starts with http:// or https://',
  })
  .refine((text) => URL.parse(text)?.search === '' && !text.includes('#'), {
    error: 'must be a base URL, without ? and #',
  })

/** Reads LOAM_PROVIDER_URL_<NAME> and LOAM_PROVIDER_KEY_<NAME>. Returns one line for each wrong variable. */
export function readProviderSettings(env: Readonly<Record<string, string | undefined>>): {
  settings: ProviderSettings
  lines: string[]
} {
  const urls = collect(env, URL_PREFIX)
  const keys = collect(env, KEY_PREFIX)
  const lines = [...urls].flatMap(([name, text]) => {
    const fault = HttpUrl.safeParse(text).error?.issues[0]?.message
    return fault === undefined ? [] : [`${URL_PREFIX}${name}: ${fault}`]
  })
  const wrongNames = [
    ...[...urls.keys()].map((name) => ({ name, prefix: URL_PREFIX })),
    ...[...keys.keys()].map((name) => ({ name, prefix: KEY_PREFIX })),
  ].filter(({ name }) => !/^[A-Z0-9]+(_[A-Z0-9]+)*$/.test(name))
  for (const { name, prefix } of wrongNames) {
    lines.push(`${prefix}${name}: must end with the id of a provider in capitals, as ${prefix}HUNTER`)
  }
  const byId = (found: Map<string, string>, read: (text: string) => string) =>
    new Map([...found].map(([name, text]) => [name.toLowerCase(), read(text)] as const))
  return {
    settings: {
      providerUrls: byId(urls, (text) => trimEnd(text, '/')),
      providerKeys: byId(keys, (text) => text.trim()),
    },
    lines,
  }
}

export function isProviderSetting(name: string): boolean {
  return name.startsWith(URL_PREFIX) || name.startsWith(KEY_PREFIX)
}

function collect(env: Readonly<Record<string, string | undefined>>, prefix: string): Map<string, string> {
  return new Map(
    Object.entries(env).flatMap(([name, text]) =>
      name.startsWith(prefix) && text !== undefined && text !== ''
        ? [[name.slice(prefix.length), text] as const]
        : [],
    ),
  )
}
