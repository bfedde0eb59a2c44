import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { sessionQuery, useCan } from '../api/session.ts'
import { classNames } from '../ui/class-names.ts'
import { Problem } from '../ui/problem.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { AccountMenu } from './account-menu.tsx'
import { KeyboardShortcuts } from './keyboard-shortcuts.tsx'
import { NAVIGATION } from './navigation.ts'

const CommandPalette = lazy(() => import('./command-palette.tsx'))

/** Around every screen of whoever is signed in. */
export function Frame() {
  const session = useQuery(sessionQuery)
  if (session.data !== undefined) return <SignedIn />
  // Whoever is signed out is on the way to the sign-in screen.
  const isSignedOut = session.error instanceof ApiError && session.error.status === 401
  return (
    <main className="mx-auto w-full max-w-[640px] p-6">
      <h1 className="sr-only">Loam</h1>
      {session.error === null || isSignedOut ? (
        <Skeleton />
      ) : (
        <Problem error={session.error} onRetry={() => void session.refetch()} />
      )}
    </main>
  )
}

function SignedIn() {
  const [dialog, setDialog] = useState<'palette' | 'keys' | null>(null)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        setDialog('palette')
      } else if (event.key === '?' && !isTyping(event.target)) {
        event.preventDefault()
        setDialog('keys')
      }
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  return (
    <div className="flex h-full min-h-0 max-md:flex-col">
      <Sidebar onOpenPalette={() => setDialog('palette')} />
      <Suspense fallback={<Skeleton />}>
        <Outlet />
      </Suspense>
      {dialog === 'palette' && (
        <Suspense fallback={null}>
          <CommandPalette onClose={() => setDialog(null)} />
        </Suspense>
      )}
      <KeyboardShortcuts open={dialog === 'keys'} onClose={() => setDialog(null)} />
    </div>
  )
}

function Sidebar({ onOpenPalette }: { onOpenPalette: () => void }) {
  const can = useCan()
  const path = useRouterState({ select: (state) => state.location.pathname })
  return (
    <div className="flex shrink-0 gap-2 border-r bg-subtle p-2 max-md:items-center max-md:overflow-x-auto max-md:border-r-0 max-md:border-b md:w-[188px] md:flex-col">
      <div className="flex items-center gap-2 px-2 py-1 max-md:hidden">
        <img src="/icon.svg" alt="" width={20} height={20} />
        <span className="text-14 font-semibold">Loam</span>
      </div>
      <nav aria-label="Main" className="flex gap-0.5 md:flex-1 md:flex-col">
        {NAVIGATION.filter(({ scope }) => scope === undefined || can(scope)).map(
          ({ name, to, icon: Icon }) => {
            const isHere = path === to || path.startsWith(`${to}/`)
            return (
              <Link
                key={to}
                to={to}
                {...(isHere ? { 'aria-current': 'page' as const } : {})}
                className={classNames(
                  'flex h-8 items-center gap-2 rounded-md px-2 whitespace-nowrap hover:bg-hover',
                  isHere ? 'bg-selected font-medium text-accent-text' : 'text-text',
                )}
              >
                <Icon aria-hidden className="size-4 shrink-0" />
                {name}
              </Link>
            )
          },
        )}
      </nav>
      <button
        type="button"
        onClick={onOpenPalette}
        className="flex h-8 items-center justify-between gap-2 rounded-md px-2 whitespace-nowrap text-muted hover:bg-hover max-md:hidden"
      >
        Commands <kbd className="text-11">Ctrl K</kbd>
      </button>
      <AccountMenu />
    </div>
  )
}

/** A key that is text for a field is no command. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  )
}
