/// The version that `--version` tells.
package let watchFerryVersion = "0.1.0"
