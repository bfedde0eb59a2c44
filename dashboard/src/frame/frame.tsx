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
import { SETTINGS } from './settings-pages.ts'

const CommandPalette = lazy(() => import('./command-palette.tsx'))

/** The frame around every screen of a signed-in person. */
export function Frame() {
  const session = useQuery(sessionQuery)
  if (session.data !== undefined) return <SignedIn />
  // A signed-out person is being redirected to the sign-in screen.
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
      <SkipLink />
      <Sidebar onOpenPalette={() => setDialog('palette')} />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <SettingsLinks />
        <Suspense fallback={<Pending />}>
          <Outlet />
        </Suspense>
      </div>
      {dialog === 'palette' && (
        <Suspense fallback={null}>
          <CommandPalette onClose={() => setDialog(null)} />
        </Suspense>
      )}
      <KeyboardShortcuts open={dialog === 'keys'} onClose={() => setDialog(null)} />
    </div>
  )
}

/** The first link of each page, which is seen only while it has the focus: it leads past the navigation. */
function SkipLink() {
  return (
    <a
      href="#content"
      className="sr-only focus:not-sr-only focus:fixed! focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-raised focus:px-3 focus:py-2 focus:shadow-raised"
      onClick={(event) => {
        event.preventDefault()
        const main = document.querySelector('main')
        if (main === null) return
        if (!main.hasAttribute('tabindex')) main.tabIndex = -1
        main.focus()
      }}
    >
      Skip to content
    </a>
  )
}

function Pending() {
  return (
    <main id="content" className="mx-auto w-full max-w-[1120px] px-4 py-16 md:px-6">
      <Skeleton />
    </main>
  )
}

/** Scrolls the current link into view. On a phone the row of links is wider than the screen. */
const showLink = (link: Element | null) => link?.scrollIntoView({ block: 'nearest', inline: 'center' })

/** Links to all pages of the settings. */
function SettingsLinks() {
  const can = useCan()
  const path = useRouterState({ select: (state) => state.location.pathname })
  if (!path.startsWith('/settings/')) return null
  return (
    <nav aria-label="Pages of the settings" className="overflow-x-auto border-b">
      <div className="mx-auto flex max-w-[1120px] gap-1 px-2 md:px-4">
        {SETTINGS.filter(({ scope }) => scope === undefined || can(scope)).map(({ name, to }) => (
          <Link
            key={to}
            to={to}
            {...(path === to ? { 'aria-current': 'page' as const, ref: showLink } : {})}
            className={classNames(
              '-mb-px border-b-2 px-2 py-2 whitespace-nowrap hover:text-text',
              path === to ? 'border-accent-text text-text' : 'border-transparent text-muted',
            )}
          >
            {name}
          </Link>
        ))}
      </div>
    </nav>
  )
}

function Sidebar({ onOpenPalette }: { onOpenPalette: () => void }) {
  const can = useCan()
  const path = useRouterState({ select: (state) => state.location.pathname })
  return (
    <div className="flex shrink-0 gap-2 border-r bg-subtle p-2 max-md:items-center max-md:justify-between max-md:border-r-0 max-md:border-b max-md:p-1.5 md:w-[188px] md:flex-col">
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
                title={name}
                className={classNames(
                  'flex h-8 items-center gap-2 rounded-md px-2 whitespace-nowrap hover:bg-hover max-md:h-9',
                  isHere ? 'bg-selected font-medium text-accent-text' : 'text-text',
                )}
              >
                <Icon aria-hidden className="size-4 shrink-0" />
                <span className={classNames(!isHere && 'max-md:sr-only')}>{name}</span>
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

/** Returns true if the focus is in a text field, where a key is text and not a command. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  )
}
