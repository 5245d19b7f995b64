// Loaded before the suite: its mocks listen on this machine only.
//
// They are announced as `localhost` but would listen on every address of the
// machine, for everybody around to reach.
//
// This is the inner half of `listen`. Giving the outer one a host would not do:
// it would look the host up first, and mocks ask for their port at once.

import net from 'node:net';

const bind = net.Server.prototype._listen2;

if (typeof bind !== 'function') {
  throw new Error('this Node.js binds servers in another way; mend loopback.mjs');
}

net.Server.prototype._listen2 = function (address, port, type, ...rest) {
  // A pipe has a path for an address, a descriptor no port.
  const everywhere = !address && port >= 0;
  return everywhere
    ? bind.call(this, '127.0.0.1', port, 4, ...rest)
    : bind.call(this, address, port, type, ...rest);
};
