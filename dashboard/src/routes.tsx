import { createRootRoute, createRoute, createRouter, Navigate, Outlet } from '@tanstack/react-router'
import { type ComponentType, lazy, Suspense } from 'react'
import type { Scope } from '#contract/scopes.ts'
import { useCan } from './api/session.ts'
import { Frame } from './frame/frame.tsx'
import { Broken, NotAllowed, NotFound } from './frame/refusal.tsx'
import { Skeleton } from './ui/skeleton.tsx'
import { Toasts } from './ui/toasts.tsx'

type Screen = { path: string; scope?: Scope; load: () => Promise<{ Screen: ComponentType }> }

/** The addresses inside the frame. A screen is a module that exports `Screen`; it is loaded when it is first shown. */
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
  {
    path: '/workflows/$workflowId/sheets/$sheetId/runs',
    scope: 'workflows:data:read',
    load: () => import('./screens/runs/runs-screen.tsx'),
  },
  {
    path: '/workflows/$workflowId/sheets/$sheetId/import',
    scope: 'workflows:data:write',
    load: () => import('./screens/import/import-screen.tsx'),
  },
  {
    path: '/workflows/$workflowId/sheets/$sheetId/export',
    scope: 'workflows:read',
    load: () => import('./screens/export/export-screen.tsx'),
  },
  {
    path: '/workflows/$workflowId/sheets/$sheetId/schedule',
    scope: 'workflows:read',
    load: () => import('./screens/schedule/schedule-screen.tsx'),
  },
  {
    path: '/workflows/$workflowId/sheets/$sheetId/webhook',
    scope: 'workflows:data:read',
    load: () => import('./screens/webhook/webhook-screen.tsx'),
  },
  { path: '/sources', scope: 'sources:read', load: () => import('./screens/sources/sources-screen.tsx') },
  {
    path: '/sources/$id',
    scope: 'sources:read',
    load: () => import('./screens/sources/source-screen.tsx'),
  },
  {
    path: '/shortcuts',
    scope: 'shortcuts:read',
    load: () => import('./screens/shortcuts/shortcuts-screen.tsx'),
  },
  {
    path: '/shortcuts/$id',
    scope: 'shortcuts:read',
    load: () => import('./screens/shortcuts/shortcut-screen.tsx'),
  },
  { path: '/records', scope: 'records', load: () => import('./screens/records/records-screen.tsx') },
  { path: '/segments', scope: 'records', load: () => import('./screens/segments/segments-screen.tsx') },
  { path: '/usage', scope: 'credits:read', load: () => import('./screens/usage/usage-screen.tsx') },
  { path: '/settings', load: () => import('./screens/settings/settings-screen.tsx') },
  {
    path: '/settings/members',
    scope: 'members:write',
    load: () => import('./screens/members/members-screen.tsx'),
  },
  { path: '/settings/keys', scope: 'workflows:read', load: () => import('./screens/keys/keys-screen.tsx') },
  { path: '/settings/connections', load: () => import('./screens/connections/connections-screen.tsx') },
  {
    path: '/settings/environment',
    scope: 'workflows:read',
    load: () => import('./screens/environment/environment-screen.tsx'),
  },
  { path: '/settings/sessions', load: () => import('./screens/sessions/sessions-screen.tsx') },
  { path: '/settings/audit', scope: 'members:write', load: () => import('./screens/audit/audit-screen.tsx') },
  {
    path: '/settings/health',
    scope: 'members:write',
    load: () => import('./screens/health/health-screen.tsx'),
  },
]

const lazyScreen = (load: Screen['load']) =>
  lazy(async () => {
    const { Screen } = await load().catch((cause: unknown) => {
      throw new Error(
        'This page could not be loaded: the server is unreachable or was updated. Reload the page',
        { cause },
      )
    })
    return { default: Screen }
  })

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
  const LazyScreen = lazyScreen(load)
  const component = () => {
    const can = useCan()
    return scope === undefined || can(scope) ? <LazyScreen /> : <NotAllowed />
  }
  return createRoute({ getParentRoute: () => frameRoute, path, component })
})

const absentRoute = createRoute({ getParentRoute: () => frameRoute, path: '$', component: NotFound })

const SignIn = lazyScreen(() => import('./screens/sign-in/sign-in-screen.tsx'))
const signInRoutes = ['/sign-in', '/sign-in/$token'].map((path) =>
  createRoute({ getParentRoute: () => rootRoute, path, component: SignIn }),
)

const ChooseOrganisation = lazyScreen(() => import('./screens/sign-in/choose-organisation-screen.tsx'))
const chooseRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in/organisations',
  component: ChooseOrganisation,
})

const Invitation = lazyScreen(() => import('./screens/invitation/invitation-screen.tsx'))
const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitations/$token',
  component: Invitation,
})

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    frameRoute.addChildren([homeRoute, ...screenRoutes, absentRoute]),
    ...signInRoutes,
    chooseRoute,
    invitationRoute,
  ]),
  // Query values stay plain texts. Each screen parses its own.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search: Record<string, string>) => {
    const text = new URLSearchParams(search).toString()
    return text === '' ? '' : `?${text}`
  },
  defaultPendingComponent: Skeleton,
  defaultPendingMs: 0,
  defaultErrorComponent: Broken,
})
