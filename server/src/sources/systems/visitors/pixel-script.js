;(function () {
  'use strict'
  var script = document.currentScript
  if (!script) return
  var asked = navigator.doNotTrack || window.doNotTrack
  // A visitor who asks not to be tracked is not tracked: nothing is sent, whatever a banner says.
  if (navigator.globalPrivacyControl || asked === '1' || asked === 'yes') return

  var address = script.src.replace(/\.js(\?.*)?$/, '')
  var rb2b = script.getAttribute('data-rb2b')
  // Kept in memory only, for as long as the page is open: no cookie, no storage.
  var last = ''
  var isStarted = false

  /** Returns the URL without fragment and parameters, which may identify a person. Campaign parameters stay. */
  function pageOf(href) {
    var url = new URL(href)
    var kept = []
    url.searchParams.forEach(function (value, name) {
      if (/^utm_(source|medium|campaign|term|content)$/.test(name)) {
        kept.push(name + '=' + encodeURIComponent(value))
      }
    })
    return url.origin + url.pathname + (kept.length ? '?' + kept.join('&') : '')
  }

  function send() {
    var page = pageOf(location.href)
    if (page === last) return
    var from = last || document.referrer
    last = page
    var body = JSON.stringify({
      url: page,
      referrer: from ? from.split(/[?#]/)[0] : '',
      title: document.title.slice(0, 200),
    })
    if (navigator.sendBeacon && navigator.sendBeacon(address, body)) return
    fetch(address, {
      method: 'POST',
      body: body,
      mode: 'no-cors',
      credentials: 'omit',
      keepalive: true,
    }).catch(function () {})
  }

  /** Sends a view when a page changes its URL without a load. */
  function watch() {
    var push = history.pushState.bind(history)
    history.pushState = function () {
      var result = push.apply(null, arguments)
      setTimeout(send, 0)
      return result
    }
    window.addEventListener('popstate', send)
  }

  function loadRb2b() {
    if (!/^[A-Za-z0-9]+$/.test(rb2b)) {
      // oxlint-disable-next-line no-console -- the owner of a website looks for errors there
      console.warn('Loam: set data-rb2b to the key in the script of your RB2B account')
      return
    }
    if (window.reb2b) return
    window.reb2b = { loaded: true }
    var other = document.createElement('script')
    other.async = true
    other.src = 'https://ddwl4m2hdecbv.cloudfront.net/b/' + rb2b + '/' + rb2b + '.js.gz'
    document.head.appendChild(other)
  }

  function start() {
    if (isStarted) return
    isStarted = true
    if (rb2b !== null) return loadRb2b()
    send()
    watch()
  }

  if (script.getAttribute('data-consent') !== 'required') return start()
  var before = window.loamConsent
  window.loamConsent = function (given) {
    if (before) before(given)
    if (given !== false) start()
  }
  document.addEventListener('loam:consent', start)
})()
