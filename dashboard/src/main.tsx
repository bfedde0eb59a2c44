import { focusManager, MutationCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError, setSignedOutHandler } from './api/client.ts'
import { keepReturnAddress } from './return-address.ts'
import { router } from './routes.tsx'
import { applyTheme, readTheme } from './theme/theme.ts'
import './theme/styles.css'

applyTheme(readTheme())

const MAX_RETRIES = 2
/** Nobody was reached, or only something in between; a failure of the server itself is shown at once. */
const isOnTheWay = (error: Error) => error instanceof ApiError && [0, 502, 503, 504].includes(error.status)

const queries: QueryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 1000,
      retry: (count, error) => count < MAX_RETRIES && isOnTheWay(error),
      retryDelay: (count) => 500 * 2 ** count,
    },
  },
  // One change shows on many screens: each asks anew when it is next opened.
  mutationCache: new MutationCache({ onSuccess: () => queries.invalidateQueries({ refetchType: 'none' }) }),
})

// Back in the window is back on the page, also where another window only covered it.
focusManager.setEventListener((onFocus) => {
  const listener = () => onFocus()
  addEventListener('visibilitychange', listener)
  addEventListener('focus', listener)
  return () => {
    removeEventListener('visibilitychange', listener)
    removeEventListener('focus', listener)
  }
})

setSignedOutHandler(() => {
  if (location.pathname.startsWith('/sign-in')) return
  keepReturnAddress(`${location.pathname}${location.search}`)
  void router.navigate({ to: '/sign-in', replace: true })
})

const root = document.getElementById('root')
if (root === null) throw new Error('the page has no root element')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
