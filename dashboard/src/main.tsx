import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError, setSignedOutHandler } from './api/client.ts'
import { keepReturnAddress } from './return-address.ts'
import { router } from './routes.tsx'
import { applyTheme, readTheme } from './theme/theme.ts'
import './theme/styles.css'

applyTheme(readTheme())

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // A refusal stays one; what did not arrive is tried again.
      retry: (count, error) =>
        count < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
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
