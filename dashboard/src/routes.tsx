import { createRootRoute, createRoute, createRouter, Navigate, Outlet } from '@tanstack/react-router'
import { type ComponentType, lazy, Suspense } from 'react'
import type { Scope } from '#contract/scopes.ts'
import { useCan } from './api/session.ts'
import { Frame } from './frame/frame.tsx'
import { Broken, NotAllowed, NotFound } from './frame/refusal.tsx'
import { Skeleton } from './ui/skeleton.tsx'
import { Toasts } from './ui/toasts.tsx'

type Load = () => Promise<{ Screen: ComponentType }>

const lazyScreen = (load: Load) =>
  lazy(async () => {
    const { Screen } = await load().catch((cause: unknown) => {
      throw new Error(
        'This page could not be loaded: the server is unreachable or was updated. Reload the page',
        { cause },
      )
    })
    return { default: Screen }
  })

/** Returns a validator of the query of an address: the named parts are plain texts, and any may be missing. */
const texts =
  <Name extends string>(...names: readonly Name[]) =>
  (query: Readonly<Record<string, unknown>>): { [_ in Name]?: string } => {
    const read: { [_ in Name]?: string } = {}
    for (const name of names) {
      const text = query[name]
      if (typeof text === 'string') read[name] = text
    }
    return read
  }

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

/** Returns a component that loads its screen when it is first shown, for people whose role has the scope. */
function guard(scope: Scope | null, load: Load) {
  const LazyScreen = lazyScreen(load)
  return () => {
    const can = useCan()
    return scope === null || can(scope) ? <LazyScreen /> : <NotAllowed />
  }
}

/** Returns the route of a screen inside the frame. The module of a screen exports `Screen`. */
const screen = <const Path extends string>(path: Path, scope: Scope | null, load: Load) =>
  createRoute({ getParentRoute: () => frameRoute, path, component: guard(scope, load) })

const mainSheetRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/workflows/$workflowId',
  component: MainSheet,
})

/** Redirects to the main sheet, which has the id of its workflow. If there is none, the sheet screen shows `Not found`. */
function MainSheet() {
  const can = useCan()
  const { workflowId } = mainSheetRoute.useParams()
  if (!can('workflows:read')) return <NotAllowed />
  const params = { workflowId, sheetId: workflowId }
  return <Navigate to="/workflows/$workflowId/sheets/$sheetId" params={params} replace />
}

const sheetRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/workflows/$workflowId/sheets/$sheetId',
  validateSearch: texts(
    'row',
    'cell',
    'action',
    'add',
    'draft',
    'after',
    'given',
    'statistics',
    'filters',
    'status_filters',
    'find',
    'cause',
    'created_at',
    'sort',
    'groups',
    'view',
  ),
  component: guard('workflows:data:read', () => import('./screens/sheet/sheet-screen.tsx')),
})

const rowRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/workflows/$workflowId/sheets/$sheetId/rows/$rowId',
  validateSearch: texts('view'),
  component: guard('workflows:data:read', () => import('./screens/sheet/row-page/row-screen.tsx')),
})

const exportRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/workflows/$workflowId/sheets/$sheetId/export',
  validateSearch: texts(
    'row_ids',
    'selected',
    'excluded',
    'filters',
    'status_filters',
    'find',
    'cause',
    'created_at',
    'sort',
  ),
  component: guard('workflows:read', () => import('./screens/export/export-screen.tsx')),
})

const newSourceRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/sources/new',
  validateSearch: texts('type'),
  component: guard('sources:write', () => import('./screens/sources/wizard/new-source-screen.tsx')),
})

const recordsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/records',
  validateSearch: texts('kind', 'q'),
  component: guard('records', () => import('./screens/records/records-screen.tsx')),
})

const shortcutsRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/shortcuts',
  validateSearch: texts('publish'),
  component: guard('shortcuts:read', () => import('./screens/shortcuts/shortcuts-screen.tsx')),
})

const absentRoute = createRoute({ getParentRoute: () => frameRoute, path: '$', component: NotFound })

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: texts('problem'),
  component: lazyScreen(() => import('./screens/sign-in/sign-in-screen.tsx')),
})

const signInLinkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in/$token',
  component: lazyScreen(() => import('./screens/sign-in/sign-in-link-screen.tsx')),
})

const chooseRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in/organisations',
  component: lazyScreen(() => import('./screens/sign-in/choose-organisation-screen.tsx')),
})

const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitations/$token',
  component: lazyScreen(() => import('./screens/invitation/invitation-screen.tsx')),
})

/** The screens inside the frame, with the scope that each needs. */
const framed = frameRoute.addChildren([
  homeRoute,
  screen('/workflows', 'workflows:read', () => import('./screens/workflows/workflows-screen.tsx')),
  mainSheetRoute,
  sheetRoute,
  screen(
    '/workflows/$workflowId/sheets/$sheetId/runs',
    'workflows:data:read',
    () => import('./screens/runs/runs-screen.tsx'),
  ),
  screen(
    '/workflows/$workflowId/sheets/$sheetId/import',
    'workflows:data:write',
    () => import('./screens/import/import-screen.tsx'),
  ),
  exportRoute,
  rowRoute,
  screen(
    '/workflows/$workflowId/sheets/$sheetId/comments',
    'workflows:data:read',
    () => import('./screens/sheet/comments/comments-screen.tsx'),
  ),
  screen(
    '/workflows/$workflowId/sheets/$sheetId/schedule',
    'workflows:read',
    () => import('./screens/schedule/schedule-screen.tsx'),
  ),
  screen(
    '/workflows/$workflowId/sheets/$sheetId/webhook',
    'workflows:data:read',
    () => import('./screens/webhook/webhook-screen.tsx'),
  ),
  screen('/sources', 'sources:read', () => import('./screens/sources/sources-screen.tsx')),
  newSourceRoute,
  screen('/sources/$id', 'sources:read', () => import('./screens/sources/source-screen.tsx')),
  screen('/sources/$id/edit', 'sources:write', () => import('./screens/sources/edit-source-screen.tsx')),
  shortcutsRoute,
  screen('/shortcuts/$id', 'shortcuts:read', () => import('./screens/shortcuts/shortcut-screen.tsx')),
  recordsRoute,
  screen('/records/$id', 'records', () => import('./screens/records/record-screen.tsx')),
  screen('/segments', 'records', () => import('./screens/segments/segments-screen.tsx')),
  screen('/segments/$id', 'records', () => import('./screens/segments/segment-screen.tsx')),
  screen('/usage', 'credits:read', () => import('./screens/usage/usage-screen.tsx')),
  screen('/settings', null, () => import('./screens/settings/settings-screen.tsx')),
  screen('/settings/members', 'members:write', () => import('./screens/members/members-screen.tsx')),
  screen('/settings/keys', 'workflows:read', () => import('./screens/keys/keys-screen.tsx')),
  screen('/settings/connections', null, () => import('./screens/connections/connections-screen.tsx')),
  screen(
    '/settings/environment',
    'workflows:read',
    () => import('./screens/environment/environment-screen.tsx'),
  ),
  screen('/settings/sessions', null, () => import('./screens/sessions/sessions-screen.tsx')),
  screen('/settings/audit', 'members:write', () => import('./screens/audit/audit-screen.tsx')),
  screen('/settings/health', 'members:write', () => import('./screens/health/health-screen.tsx')),
  absentRoute,
])

export const router = createRouter({
  routeTree: rootRoute.addChildren([framed, signInRoute, signInLinkRoute, chooseRoute, invitationRoute]),
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

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
