import { createKey, type ProviderKeys } from '../provider/access.ts'
import { type Reply, type Seen, serveDouble } from './provider-double.ts'
import { type Run, type Settings } from './run-action.ts'

export const TOKEN = 'crm-token-0123456789'
export const REFRESHING = {
  client_id: 'id-1',
  client_secret: 'secret-0123456789',
  refresh_token: 'refresh-0123',
}

let connections = 0

/** The organisation's only connection to a CRM, by the name Main. */
export function connectionTo(crm: string, fields: Record<string, string> = { secret: TOKEN }): ProviderKeys {
  connections += 1
  const key = createKey(`connection ${connections}`, fields)
  return {
    platform: () => null,
    own: async (provider, name) => (provider === crm && (name ?? 'Main') === 'Main' ? key : null),
  }
}

const isAccount = ({ path }: Seen): boolean => path === '/account-info/v3/details'

/** The provider of an action, by which its id begins. */
export function providerOf(action: string): string {
  return action.startsWith('google_sheets_') ? 'google_sheets' : (action.split('_')[0] ?? '')
}

/** Runs an action against a CRM on loopback. HubSpot's account is answered for, and left out of what was seen. */
export async function runAt(
  run: Run,
  [action, inputs]: [string, Record<string, unknown>],
  answer: (seen: Seen, place: number) => Reply,
  settings: Settings = {},
) {
  const crm = providerOf(action)
  const asked: Seen[] = []
  const double = await serveDouble((seen) => {
    if (isAccount(seen)) return { json: { portalId: 42, uiDomain: 'app-eu1.hubspot.com' } }
    return answer(seen, asked.push(seen) - 1)
  })
  const urls = { [crm]: double.origin }
  const outcome = await run(action, inputs, { urls, keys: connectionTo(crm), ...settings })
  return { outcome, asked, origin: double.origin }
}

/** A request as one line, with its JSON body. */
export function printSeen({ method, path, query, body }: Seen): [string, unknown] {
  const search = new URLSearchParams(query).toString()
  return [
    `${method} ${path}${search === '' ? '' : `?${search}`}`,
    body === '' ? undefined : (JSON.parse(body) as unknown),
  ]
}
