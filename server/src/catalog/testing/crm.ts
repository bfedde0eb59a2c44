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

/** Returns the organisation's only connection to a CRM, named Main. */
export function connectionTo(crm: string, fields: Record<string, string> = { secret: TOKEN }): ProviderKeys {
  connections += 1
  const key = createKey(`connection ${connections}`, fields)
  return {
    platform: () => null,
    own: async (provider, name) => (provider === crm && (name ?? 'Main') === 'Main' ? key : null),
  }
}

const isAccount = ({ path }: Seen): boolean => path === '/account-info/v3/details'

/** Returns the provider of an action, with which the action's id begins. */
export function providerOf(action: string): string {
  return action.startsWith('google_sheets_') ? 'google_sheets' : (action.split('_')[0] ?? '')
}

/** Runs an action against a CRM on loopback. Requests for HubSpot's account get an answer and are not recorded. */
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

/** Prints a request as one line, with its JSON body. */
export function printSeen({ method, path, query, body }: Seen): [string, unknown] {
  const search = new URLSearchParams(query).toString()
  return [
    `${method} ${path}${search === '' ? '' : `?${search}`}`,
    body === '' ? undefined : (JSON.parse(body) as unknown),
  ]
}
