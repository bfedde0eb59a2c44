import { createRootRoute, createRoute, createRouter, Navigate, Outlet } from '@tanstack/react-router'
import { type ComponentType, lazy, Suspense } from 'react'
import type { Scope } from '#contract/scopes.ts'
import { useCan } from './api/session.ts'
import { Frame } from './frame/frame.tsx'
import { NotAllowed, NotFound } from './frame/refusal.tsx'
import { Skeleton } from './ui/skeleton.tsx'
import { Toasts } from './ui/toasts.tsx'

type Screen = { path: string; scope?: Scope; load: () => Promise<{ Screen: ComponentType }> }

/** Every address inside the frame. A screen is a module with `Screen`, loaded when it is first shown. */
const SCREENS: readonly Screen[] = [
  {
    path: '/workflows',
    scope: 'workflows:read',
    load: () => import('./screens/workflows/workflows-screen.tsx'),
  },
  {
    path: '/workflows/$workflowId',
    scope: 'workflows:read',
    load: () => import('./screens/workflows/main-sheet.tsx'),
  },
  {
    path: '/workflows/$workflowId/sheets/$sheetId',
    scope: 'workflows:data:read',
    load: () => import('./screens/sheet/sheet-screen.tsx'),
  },
]

const lazyScreen = (load: Screen['load']) => lazy(async () => ({ default: (await load()).Screen }))

const rootRoute = createRootRoute({
  component: () => (
    <>
      <Suspense fallback={<Skeleton />}>
        <Outlet />
      </Suspense>
      <Toasts />
    </>
  ),
  notFoundComponent: NotFound,
})

const frameRoute = createRoute({ getParentRoute: () => rootRoute, id: 'frame', component: Frame })

const homeRoute = createRoute({ getParentRoute: () => frameRoute, path: '/', component: Home })

function Home() {
  const can = useCan()
  return <Navigate to={can('workflows:read') ? '/workflows' : '/shortcuts'} replace />
}

const screenRoutes = SCREENS.map(({ path, scope, load }) => {
  const Shown = lazyScreen(load)
  const component = () => {
    const can = useCan()
    return scope === undefined || can(scope) ? <Shown /> : <NotAllowed />
  }
  return createRoute({ getParentRoute: () => frameRoute, path, component })
})

const absentRoute = createRoute({ getParentRoute: () => frameRoute, path: '$', component: NotFound })

const SignIn = lazyScreen(() => import('./screens/sign-in/sign-in-screen.tsx'))
const signInRoutes = ['/sign-in', '/sign-in/$token'].map((path) =>
  createRoute({ getParentRoute: () => rootRoute, path, component: SignIn }),
)

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    frameRoute.addChildren([homeRoute, ...screenRoutes, absentRoute]),
    ...signInRoutes,
  ]),
  // Plain texts: what a query means is for the screen to say.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search: Record<string, string>) => {
    const text = new URLSearchParams(search).toString()
    return text === '' ? '' : `?${text}`
  },
  defaultPendingComponent: Skeleton,
  defaultPendingMs: 0,
})
