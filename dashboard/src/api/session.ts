import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Scope } from '#contract/scopes.ts'
import type { Session } from '#contract/sessions.ts'
import { call } from './calls.ts'
import { fetchData, setCsrfToken } from './client.ts'
import { keys } from './keys.ts'

export const sessionQuery = queryOptions({
  queryKey: keys.session,
  // The role may have changed, so the session is read again whenever the window gets the focus.
  staleTime: 60_000,
  refetchOnWindowFocus: 'always',
  retry: false,
  queryFn: async () => {
    const session = await fetchData(call('GET /internal/session'))
    setCsrfToken(session.csrf_token)
    return session
  },
})

/** Returns the session of the signed-in person. The frame renders no screen before the session is loaded. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery)
  if (data === undefined) throw new Error('a screen was rendered before the session was loaded')
  return data
}

export function useCan(): (scope: Scope) => boolean {
  const { scopes } = useSession()
  return (scope) => scopes.includes(scope)
}
