// SPDX-License-Identifier: GPL-2.0
/*
 * Root ports of the simulator as a PCI host bridge of user-mode Linux.
 *
 * Bus 0 of Linux is that of virtio, so its bus n + 1 is our bus n: all registers that hold a bus
 * number are shifted here. Interrupts need nothing: virt-pci gives every root bus its MSI domain.
 */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/pci.h>
#include <linux/platform_device.h>

#define FIRST_BUS 1
#define LAST_BUS 8

struct flitwise_host {
	void __iomem *ecam;
	struct resource buses;
	u16 aer[32]; /* of function 0 of the devices on the first bus, or 0 */
};

static void __iomem *flitwise_map_bus(struct pci_bus *bus, unsigned int devfn, int where)
{
	struct flitwise_host *host = bus->sysdata;

	return host->ecam + ((bus->number - FIRST_BUS) << 20 | devfn << 12 | where);
}

/* Primary, secondary and subordinate bus; of the last two, 0 is none yet. */
static bool is_bus_number(struct pci_bus *bus, unsigned int devfn, int where)
{
	return (where & ~3) == PCI_PRIMARY_BUS &&
	       (readb(flitwise_map_bus(bus, devfn, PCI_HEADER_TYPE)) & PCI_HEADER_TYPE_MASK) ==
		       PCI_HEADER_TYPE_BRIDGE;
}

/* Who has sent the error messages: two IDs in a root port. */
static bool is_error_source(struct pci_bus *bus, unsigned int devfn, int where)
{
	struct flitwise_host *host = bus->sysdata;
	u16 aer = bus->number == FIRST_BUS && !PCI_FUNC(devfn) ? host->aer[PCI_SLOT(devfn)] : 0;

	return aer && where == aer + PCI_ERR_ROOT_ERR_SRC;
}

static int flitwise_read(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	int i, ret = pci_generic_config_read(bus, devfn, where, size, value);

	if (is_bus_number(bus, devfn, where)) {
		for (i = 0; i < size && where + i <= PCI_SUBORDINATE_BUS; i++)
			if (where + i == PCI_PRIMARY_BUS || *value >> 8 * i & 0xff)
				*value += FIRST_BUS << 8 * i;
	} else if (size == 4 && is_error_source(bus, devfn, where)) {
		*value += (*value & 0xffff ? FIRST_BUS << 8 : 0) + (*value >> 16 ? FIRST_BUS << 24 : 0);
	}
	return ret;
}

static int flitwise_write(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 value)
{
	int i;

	if (is_bus_number(bus, devfn, where))
		for (i = 0; i < size && where + i <= PCI_SUBORDINATE_BUS; i++)
			if (value >> 8 * i & 0xff)
				value -= FIRST_BUS << 8 * i;
	return pci_generic_config_write(bus, devfn, where, size, value);
}

static struct pci_ops flitwise_ops = {
	.map_bus = flitwise_map_bus,
	.read = flitwise_read,
	.write = flitwise_write,
};

/* Where AER stands in the root ports: before Linux asks for it there. */
static void find_aer(struct flitwise_host *host)
{
	int slot, at, left;
	u32 header;

	for (slot = 0; slot < ARRAY_SIZE(host->aer); slot++) {
		void __iomem *config = host->ecam + (PCI_DEVFN(slot, 0) << 12);

		if (readw(config + PCI_VENDOR_ID) == 0xffff)
			continue;
		for (at = PCI_CFG_SPACE_SIZE, left = 64; at && left; at = PCI_EXT_CAP_NEXT(header), left--) {
			header = readl(config + at);
			if (PCI_EXT_CAP_ID(header) == PCI_EXT_CAP_ID_ERR)
				host->aer[slot] = at;
		}
	}
}

static int flitwise_host_probe(struct platform_device *pdev)
{
	struct resource *ecam = platform_get_resource(pdev, IORESOURCE_MEM, 0);
	struct resource *window = platform_get_resource(pdev, IORESOURCE_MEM, 1);
	struct pci_host_bridge *bridge = pci_alloc_host_bridge(sizeof(struct flitwise_host));
	struct flitwise_host *host;

	if (!bridge)
		return -ENOMEM;
	host = pci_host_bridge_priv(bridge);
	host->buses = (struct resource){ .name = "PCI buses", .start = FIRST_BUS, .end = LAST_BUS,
					 .flags = IORESOURCE_BUS };
	host->ecam = ecam && window ? ioremap(ecam->start, resource_size(ecam)) : NULL;
	if (!host->ecam) {
		pci_free_host_bridge(bridge);
		return dev_err_probe(&pdev->dev, -ENODEV, "no configuration space or no window\n");
	}
	find_aer(host);
	pci_add_resource(&bridge->windows, window);
	pci_add_resource(&bridge->windows, &host->buses);
	bridge->dev.parent = &pdev->dev;
	bridge->sysdata = host;
	bridge->busnr = FIRST_BUS;
	bridge->ops = &flitwise_ops;
	return pci_host_probe(bridge);
}

static const struct of_device_id flitwise_host_ids[] = { { .compatible = "flitwise,pcie" }, {} };
MODULE_DEVICE_TABLE(of, flitwise_host_ids);

static struct platform_driver flitwise_host_driver = {
	.driver = { .name = "flitwise-host", .of_match_table = flitwise_host_ids,
		    .suppress_bind_attrs = true },
	.probe = flitwise_host_probe,
};
builtin_platform_driver(flitwise_host_driver);

MODULE_DESCRIPTION("PCI host bridge of the flitwise simulator");
MODULE_LICENSE("GPL");
