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
  // A role may be changed meanwhile: that is asked whenever somebody comes back to the window.
  staleTime: 60_000,
  refetchOnWindowFocus: 'always',
  retry: false,
  queryFn: async () => {
    const { data } = await request<Session>('GET', '/internal/session')
    setCsrfToken(data.csrf_token)
    return data
  },
})

/** Of whoever is signed in: the frame shows nothing else until it is known. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery)
  if (data === undefined) throw new Error('a screen was shown before the session was known')
  return data
}

export function useCan(): (scope: Scope) => boolean {
  const { scopes } = useSession()
  return (scope) => scopes.includes(scope)
}
