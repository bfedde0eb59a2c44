import { focusManager, MutationCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError, setSignedOutHandler } from './api/client.ts'
import { keepReturnAddress } from './return-address.ts'
import { router } from './routes.tsx'
import { applyTheme, readTheme } from './theme/theme.ts'
import { showCutText } from './ui/cut-text.ts'
import './theme/styles.css'

applyTheme(readTheme())
showCutText()

const MAX_RETRIES = 2
/** Returns true if the server was not reached, or only a proxy in front of it. Errors of the server itself are shown at once. */
const isUnreachable = (error: Error) => error instanceof ApiError && [0, 502, 503, 504].includes(error.status)

const queries: QueryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 1000,
      retry: (count, error) => count < MAX_RETRIES && isUnreachable(error),
      retryDelay: (count) => 500 * 2 ** count,
    },
  },
  // A change may affect many screens: each refetches its data when it is next opened.
  mutationCache: new MutationCache({ onSuccess: () => queries.invalidateQueries({ refetchType: 'none' }) }),
})

// The page counts as focused when the window gets the focus, also if another window only covered it.
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
