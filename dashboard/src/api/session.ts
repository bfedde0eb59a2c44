import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Role, Scope } from '#contract/scopes.ts'
import { request, setCsrfToken } from './client.ts'

export type Session = {
  email: string
  role: Role
  scopes: Scope[]
  organisation: { id: string; name: string }
  csrf_token: string
  expires_at: string
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  // The role may have changed, so the session is read again whenever the window gets the focus.
  staleTime: 60_000,
  refetchOnWindowFocus: 'always',
  retry: false,
  queryFn: async () => {
    const { data } = await request<Session>('GET', '/internal/session')
    setCsrfToken(data.csrf_token)
    return data
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
